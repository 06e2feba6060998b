# Six nodes on a patrol; metres, seconds, metres a second.
$node_(0) set X_ 0.0
$node_(0) set Y_ 0.0
$node_(1) set X_ -400.0
$node_(1) set Y_ 300.0
$node_(2) set X_ -400.0
$node_(2) set Y_ -300.0
$node_(3) set X_ -800.0
$node_(3) set Y_ 600.0
$node_(4) set X_ -800.0
$node_(4) set Y_ -600.0
$node_(5) set X_ -900.0
$node_(5) set Y_ 0.0
$ns_ at 0.0 "$node_(0) setdest 1200.0 200.0 20.0"
$ns_ at 0.0 "$node_(1) setdest 800.0 600.0 20.0"
$ns_ at 0.0 "$node_(2) setdest 700.0 -200.0 20.0"
$ns_ at 0.0 "$node_(3) setdest 300.0 900.0 20.0"
$ns_ at 0.0 "$node_(4) setdest 500.0 -700.0 22.0"
$ns_ at 0.0 "$node_(5) setdest 100.0 100.0 17.0"
$ns_ at 30.0 "$node_(4) setdest 900.0 100.0 25.0"
