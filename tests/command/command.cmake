# The weft command as it is called: what it prints, and that it ends with 0 or, of a mistake, with 1 and a sentence.

set(weft ${BUILD}/weft)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
file(WRITE ${WORK}/sum.weft "graph sums(%x: f32[n,m]) -> (%0) {\n  %0: f32[i:n] = sum(j:m) exp(%x[i,j])\n}\n")
file(WRITE ${WORK}/padded.weft
  "graph padded(%a: f32[n,1], %b: f32[n,2]) -> (%2) {\n"
  "  %0: f32[n,3] = update(%a[i,j]) at [i,j]\n"
  "  %1: f32[n,3] = update(%b[i,j]) at [i,j+1]\n"
  "  %2: f32[i:n,j:3] = add(%0[i,j], %1[i,j])\n}\n")
file(WRITE ${WORK}/order.weft                                        # lines of any names, in any order
  "graph order(%x: f32[n]) -> (%0, %1, %loss) {\n"
  "  %1: f32[i:n] = add(%x[i], 100)\n"
  "  %0: f32[i:n] = exp(%x[i])\n"
  "  %loss: f32[] = sum(i:n) square(%0[i])\n}\n")
file(WRITE ${WORK}/slices.weft                                       # of two elements or more
  "graph slices(%x: f32[n]) -> (%0) {\n"
  "  %0: f32[i:n-2] = add(%x[i+2], %x[i+0])\n}\n")
string(REPEAT "(" 20000 opening)
string(REPEAT ")" 20000 closing)
file(WRITE ${WORK}/deep.weft "graph deep(%x: f32[${opening}n${closing}]) -> (%0) {\n  %0: f32[] = sum(i:n) copy(%x[i])\n}\n")

file(WRITE ${WORK}/deep_loops.weft "graph deep_loops(%x: f32[a,b,c,d,e,f]) -> (%0) {
  %0: f32[i:a,j:b,k:c,l:d,p:e,q:f] = exp(%x[i,j,k,l,p,q])
}
")

# expect(status text words...): `weft words...` ends with the status, and what it says matches the text.
function(expect status text)
  execute_process(COMMAND ${weft} ${ARGN} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE ended OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT ended STREQUAL status)
    message(FATAL_ERROR "weft ${ARGN} ended with ${ended}, not ${status}:\n${said}")
  elseif(NOT said MATCHES "${text}")
    message(FATAL_ERROR "weft ${ARGN} should say ${text}:\n${said}")
  endif()
endfunction()

expect(0 "graphs:.*read_through_windows  slices of.*programs of loops:.*join_results  " passes)
expect(0 "sum\\(j:m\\) exp" show sum.weft)
expect(0 "weft_sums" show --asm sum.weft)
expect(0 "lanes .*exp" show --program deep_loops.weft)
expect(0 "ok    %0 f32" check sum.weft)
expect(0 "ok    %2 f32" check padded.weft --size n=5000)
expect(0 "ok    %0 f32.*ok    %1 f32.*ok    %loss f32" check order.weft)
expect(0 "square.*multiply" show --grad loss:x order.weft)
expect(1 "has no %gain" show --grad gain:x order.weft)
expect(0 "ok    shape: an axis cannot have extent n-2 = -1.*ok    %0 f32" check slices.weft)
expect(1 "%x is not given\n  add x=FILE.npy" run sum.weft)
expect(1 "x=b.npy" run sum.weft x=a.npy x=b.npy)
expect(1 "cannot open nothing.weft" show nothing.weft)
expect(1 "cannot open . as a file" show .)
expect(1 "brackets within each other" check deep.weft)
expect(1 "there is no pass simpl" check --trace simpl sum.weft)
expect(105 "not in range" show --threads -1 sum.weft)
