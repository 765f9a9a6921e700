# shellcheck shell=bash
# A throw-away single-node Kafka for scripts, to be sourced. Whoever sources it calls kafka_kill in its
# EXIT trap.
#
#   kafka_start FOLDER [JVM FLAG]...   makes and starts one in FOLDER; sets kafka_bootstrap, kafka_pid
#   kafka_stop                         cleanly, and waits
#   kafka_kill                         at once; nothing if none runs
#   free_port                          prints a port of 127.0.0.1 that nobody listens on

kafka_lib=${WALPOST_KAFKA_LIB:-${XDG_CACHE_HOME:-$HOME/.cache}/walpost/kafka/lib}
kafka_archive=$(dirname "$kafka_lib")/classes.jsa
kafka_pid=
kafka_bootstrap=

# Below the range from which the kernel takes ports for outgoing connections.
free_port() {
  local port
  while :; do
    port=$((10000 + RANDOM % 20000))
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      echo "$port"
      return
    fi
  done
}

kafka_properties() { # FOLDER BROKER CONTROLLER
  cat <<PROPERTIES
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@$3
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://$2,CONTROLLER://$3
advertised.listeners=PLAINTEXT://$2
log.dirs=$1/data
auto.create.topics.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=8388608
broker.heartbeat.interval.ms=300
broker.session.timeout.ms=2000
PROPERTIES
}

kafka_answers() {
  (exec 3<>"/dev/tcp/${kafka_bootstrap/:/\/}") 2>/dev/null && grep -q 'Kafka Server started' "$1/log"
}

kafka_start() {
  local folder=$1 controller
  shift
  local java=(java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -Xmx384m)
  if [[ -f $kafka_archive ]]; then java+=(-Xlog:cds=off "-XX:SharedArchiveFile=$kafka_archive"); fi
  kafka_bootstrap=127.0.0.1:$(free_port)
  controller=127.0.0.1:$(free_port)
  mkdir -p "$folder"
  kafka_properties "$folder" "$kafka_bootstrap" "$controller" >"$folder/server.properties"
  "${java[@]}" -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp "$kafka_lib/*" \
    kafka.tools.StorageTool format -t d2FscG9zdC10ZXN0LWtmaw -c "$folder/server.properties" \
    >"$folder/format.log" 2>&1 || { cat "$folder/format.log" >&2 && return 1; }
  "${java[@]}" "$@" -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
    -Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info -cp "$kafka_lib/*" \
    kafka.Kafka "$folder/server.properties" >"$folder/log" 2>&1 </dev/null &
  kafka_pid=$!
  local i
  for ((i = 0; i < 600; ++i)); do
    if kafka_answers "$folder"; then return 0; fi
    kill -0 "$kafka_pid" 2>/dev/null || break
    sleep 0.1
  done
  echo "Kafka did not start:" >&2
  tail -20 "$folder/log" >&2
  return 1
}

kafka_stop() {
  kill "$kafka_pid"
  wait "$kafka_pid" || [[ $? == 143 ]]  # Java's own code for a clean end by SIGTERM
  kafka_pid=
}

kafka_kill() {
  if [[ -n $kafka_pid ]]; then
    kill -9 "$kafka_pid" 2>/dev/null || true
    wait "$kafka_pid" 2>/dev/null || true
  fi
  kafka_pid=
}
