import json,sys
for line in open(sys.argv[1]):
    pass
