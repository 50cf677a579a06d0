T=./tidegate
for m in interpreter jit; do for p in $1; do for w in $2; do $T run $p.json --device gpu --strategy barrier --mode $m --workers $w --compare 7 > o.out 2>o.err || head -5 o.err; python3 - $m $p $w <<'P'
import json,sys
try: r=json.load(open("o.out"))
except Exception as e: print("no json",e); sys.exit()
c=r.get("comparison"); print(*sys.argv[1:], r["status"],"parity",r.get("output_parity",{}).get("equal"), "run %.2f plain %.2f speedup %.2f"%(c["run_ns"]/1e6,c["plain_ns"]/1e6,c["speedup"]) if c else "", "slices",len(r["slices_ns"]))
P
done; done; done
