# What else tells why the process $1 ended or cannot begin: the kernel's words on memory and GPUs, where this user may read them (never
# more rights than that), and the proxy variables of its environment, without names and passwords.
exec </dev/null
LC_ALL=C
export LC_ALL
dmesg 2>&1 | grep -i -E 'oom-kill|out of memory|killed process|NVRM: Xid|^dmesg:' | tail -n 60 | sed 's/^/@kernel /'
tr '\0' '\n' 2>/dev/null <"/proc/$1/environ" | grep -i -E '^(https?|all|no)_proxy=' |
  sed 's#//.*@#//#; s/^/@variable /'
exit 0
