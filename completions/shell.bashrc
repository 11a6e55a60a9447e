# What `hermes shell` starts bash with: the user's own settings, and a prompt that says where one is.
[ -r /etc/bash.bashrc ] && . /etc/bash.bashrc
[ -r ~/.bashrc ] && . ~/.bashrc
PS1="(hermes) ${PS1:-\\w\\$ }"
