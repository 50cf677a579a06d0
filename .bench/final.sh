T=$PWD/.bench/tidegate
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
(time python3 scripts/test-devices $T --device gpu --jobs 4) 2>&1 | grep -vE "user|sys"
cd .bench
for p in step132 step132 step8448; do $T run $p.json --device gpu --compare 9 > o.out 2>o.err || head -5 o.err; $T run $p.json --device gpu --verify > o2.out; python3 - $p <<'P'
import json,sys
r=json.load(open("o.out")); r2=json.load(open("o2.out")); c=r["comparison"]
print(*sys.argv[1:], r["strategy"], r["execution_mode"], r["effective_geometry"]["worker_groups"], "parity",r["output_parity"]["equal"], "run %.2f plain %.2f us speedup %.2f"%(c["run_ns"]/1e6,c["plain_ns"]/1e6,c["speedup"]), "min run %.2f"%(min(c["run_rounds_ns"])/1e6), "2nd start: build %.1f plan %.1f publish %.1f ms wall %.0f ms"%(r2["build_ns"]/1e6,r2["queue_plan_ns"]/1e6,r2["queue_publish_ns"]/1e6,r2["wall_time_ns"]/1e6))
P
done
cd ..
for e in mlp image matrix_chain; do $T run examples/programs/$e/program.json --device gpu --compare 5 --format table 2>&1 | grep -E "strategy|outputs|compared|error|dispatch" | sed "s/^/$e /"; done

