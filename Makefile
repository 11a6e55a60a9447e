# What `npm` does, for those who type make.
.PHONY: all test demo clean

all:
	npm ci --no-audit --no-fund
	npm run build

test: all
	npm test

demo: all
	npm start

clean:
	rm -rf dist build
