# Many processes away from the one that was started.
sh -c 'env sh -c "(setsid sh -c \"cat $A_SECRET\")"'
