# Functions that tell what /proc says of a process that others started, as tagged lines. Values of variables that hold a secret stay on the host.
# shellcheck shell=sh disable=SC2034

# Variables that decide how an engine works; the login's own are told apart by `own`.
process_names='^(CUDA_|NVIDIA_VISIBLE_DEVICES=|SGLANG_|SGL_|VLLM_|NCCL_|GLOO_|UCX_|NVSHMEM_|HF_|HUGGING|TRANSFORMERS_|TORCH|PYTORCH_|TRITON_|'
process_names="$process_names"'FLASHINFER_|TVM_|DG_|TRTLLM_|TLLM_|LLAMA_|GGML_|OLLAMA_|ROCM_|HIP_|HSA_|OMP_|MKL_|TOKENIZERS_|SAFETENSORS_|'
process_names="$process_names"'MODEL_ID=|LD_LIBRARY_PATH=|LD_PRELOAD=|PYTHONPATH=|PATH=)'
process_secrets='^[^=]*(TOKEN|KEY|SECRET|PASS|PASSWORD|PASSWD|CREDENTIAL|CREDENTIALS|ACCESS_KEY_ID)='

process_lines() { tr '\n\000' ' \n' <"$1"; }

# process_begin: what our own shell has, to compare with.
process_begin() {
  LC_ALL=C # bytes of any kind are text
  export LC_ALL
  sed 's/^/@ours /' /proc/self/cgroup
  printf '@home %s\n@me %s\n' "$HOME" "$(id -u)"
  env | grep -E '^(LD_LIBRARY_PATH|LD_PRELOAD|PYTHONPATH|PATH)=' | sed 's/^/@own /'
}

# process_tell PID: all but its open files.
process_tell() {
  process_lines "/proc/$1/cmdline" | sed "s/^/@arg $1 /"
  printf '@cwd %s %s\n' "$1" "$(readlink "/proc/$1/cwd")"
  if process_env=$(process_lines "/proc/$1/environ") && [ -n "$process_env" ]; then
    printf '%s\n' "$process_env" | grep -a -E "$process_names" | grep -a -v -E "$process_secrets" | sed "s/^/@env $1 /"
    printf '%s\n' "$process_env" | grep -a -E "$process_names" | grep -a -E "$process_secrets" | sed "s/=.*//;s/^/@secret $1 /"
  else
    process_env=
    printf '@no-env %s\n' "$1"
  fi
  process_program "$1" "$(process_lines "/proc/$1/cmdline" | head -n 1)"
  sed "s/^/@cgroup $1 /" "/proc/$1/cgroup"
  while read -r process_key process_value process_rest; do
    case $process_key in
    Uid:) printf '@uid %s %s\n' "$1" "${process_rest%%[!0-9]*}" ;;
    NSpid:) printf '@nspid %s %s %s\n' "$1" "$process_value" "$process_rest" ;;
    esac
  done <"/proc/$1/status"
  for process_space in mnt net pid; do
    process_link=$(readlink "/proc/$1/ns/$process_space")
    [ -z "$process_link" ] || [ "$process_link" = "$(readlink "/proc/self/ns/$process_space")" ] || printf '@apart %s %s\n' "$1" "$process_space"
  done
  process_container_log "$1"
}

# process_program PID WORD: where the program of the command line lies, by its own PATH.
process_program() {
  case $2 in
  /*) printf '@program %s %s\n' "$1" "$2" && return ;;
  */*) printf '@program %s %s/%s\n' "$1" "$(readlink "/proc/$1/cwd")" "$2" && return ;;
  esac
  printf '%s\n' "$process_env" | sed -n 's/^PATH=//p' | head -n 1 | tr ':' '\n' | while IFS= read -r process_folder; do
    if [ -f "/proc/$1/root$process_folder/$2" ] && [ -x "/proc/$1/root$process_folder/$2" ]; then
      printf '@program %s %s/%s\n' "$1" "$process_folder" "$2"
      break
    fi
  done
}

# process_container_log PID: where the runtime of its container keeps what it writes.
process_container_log() {
  process_id=$(grep -o -E '[0-9a-f]{64}' "/proc/$1/cgroup" | tail -n 1)
  [ -n "$process_id" ] || return 0
  for process_file in "/var/lib/docker/containers/$process_id/$process_id-json.log" \
    "/var/lib/containers/storage/overlay-containers/$process_id/userdata/ctr.log" \
    /var/log/containers/*-"$process_id.log"; do
    [ ! -r "$process_file" ] || { printf '@kept %s %s\n' "$1" "$process_file" && return; }
  done
}
