package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Goroutines on several threads, the runtime's preemption signals, sockets, files and a child.
func main() {
	runtime.GOMAXPROCS(4)
	var sum int64
	var wait sync.WaitGroup
	for i := 0; i < 200; i++ {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			for k := 0; k < 1000; k++ {
				atomic.AddInt64(&sum, int64(i))
			}
			name := fmt.Sprintf("file-%d", i)
			if err := os.WriteFile(name, []byte(name), 0o640); err != nil {
				fmt.Println(err)
			}
		}(i)
	}
	spinning := make(chan bool)
	go func() { // never yields by itself: only a signal preempts it
		x := 0
		for start := time.Now(); time.Since(start) < 50*time.Millisecond; {
			for k := 0; k < 1000000; k++ {
				x += k
			}
		}
		spinning <- x != 0
	}()
	wait.Wait()
	runtime.GC()
	fmt.Println(sum, <-spinning)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { io.Copy(connection, connection); connection.Close() }()
		}
	}()
	for i := 0; i < 5; i++ {
		connection, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(connection, "line %d\n", i)
		line, _ := bufio.NewReader(connection).ReadString('\n')
		fmt.Print(line)
		connection.Close()
	}
	output, err := exec.Command("sh", "-c", "echo child; exit 3").Output()
	fmt.Printf("%s%v\n", output, err)
	os.Exit(5)
}
