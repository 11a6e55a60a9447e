@echo off
rem Replays recorded or written events against a policy, without a kernel to mediate: Windows and macOS.
rem   run_simulation.bat                                    the firewall example on demo\events.yaml
rem   run_simulation.bat --policy my.lua trace.jsonl        your policy on your events
if "%~1"=="" (
  node "%~dp0hermes.cjs" simulate --policy "%~dp0policies\firewall.lua" "%~dp0demo\events.yaml"
) else (
  node "%~dp0hermes.cjs" simulate %*
)
