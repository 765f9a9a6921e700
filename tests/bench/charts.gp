# Draws one chart of scripts/bench. Set by charts.cpp: chart, data, output_file.
set terminal svg size 720,340 noenhanced font "sans-serif,12" background "white"
set output output_file
set style line 1 lc rgb "#b4bcc6"
set style line 2 lc rgb "#d6a431"
set style line 3 lc rgb "#1f6f8b"
set style line 4 lc rgb "#a23e48"
set border 3 lc rgb "#555555"
set tics nomirror scale 0.5 textcolor rgb "#333333"
set grid ytics lc rgb "#dddddd" lt 1
set style data histograms
set style histogram clustered gap 1
set style fill solid 1.0 noborder
set boxwidth 0.9
set key outside top center horizontal samplen 1 autotitle columnhead
columns = int(system(sprintf("head -1 '%s' | tr -cd '\"' | wc -c", data))) / 2

# "500,000 one-row transactions, TCP": without the number, in two lines.
unnumbered(name) = name[strstrt(name, " ") + 1:]
wrapped(name) = (strstrt(name, ", ") > 0 \
  ? name[1:strstrt(name, ", ") - 1] . "\n" . name[strstrt(name, ", ") + 2:] : name)

if (chart eq "drain") {
  set title "Draining a backlog of half a million rows, thousand rows per second"
  set yrange [0:*]
  set bmargin 3
  plot for [i=2:columns] data using (column(i) / 1000):xtic(wrapped(unnumbered(strcol(1)))) ls i-1
}
if (chart eq "latency") {
  set title "INSERT sent to record received, milliseconds"
  set logscale y
  set yrange [0.1:*]
  set format y "%g"
  plot for [i=2:columns] data using i:xtic(1) ls i-1
}
if (chart eq "shape") {
  set title "walpost's rate relative to pg_recvlogical's"
  set yrange [0:*]
  set xtics rotate by -35
  set rmargin 8
  set style histogram clustered gap 0.4
  unset key
  plot data using 2:xtic(1) ls 3, 1 with lines lc rgb "#555555" dt 2
}
