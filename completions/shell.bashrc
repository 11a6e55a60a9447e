# Start-up file of `hermes shell`: the user's own settings, and a prompt that shows HERMES.
[ -r /etc/bash.bashrc ] && . /etc/bash.bashrc
[ -r ~/.bashrc ] && . ~/.bashrc
PS1="(hermes) ${PS1:-\\w\\$ }"
