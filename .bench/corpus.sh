T=$PWD/.bench/tidegate; rm -rf /tmp/corpus; cp -r tests/corpus /tmp/corpus; cd /tmp/corpus; D=${1:-gpu}
run_one() { out=$(timeout 100 $T run $1 --device $4 --verify --strategy $2 --mode $3 --format table -o /tmp/$1.$2.$3.out 2>&1); rc=$?; if [ $rc != 0 ]; then echo "== $1 $2 $3 rc=$rc"; echo "$out" | head -4; else echo ok; fi; }
export -f run_one; export T
for f in *.json; do for s in launch barrier; do for m in interpreter jit; do echo "$f $s $m $D"; done; done; done | xargs -P ${2:-4} -L 1 bash -c 'run_one $0 $1 $2 $3' > /tmp/corpus.log 2>&1
grep -c ^ok /tmp/corpus.log; grep -v ^ok /tmp/corpus.log | head -90
