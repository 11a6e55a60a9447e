# The user's terminal multiplexer runs a command outside. Needs: tmux.
tmux -S "$A_TMUX" run-shell "touch $A_OUTSIDE/ran"
