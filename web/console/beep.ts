const KEY = "hermes-sound";

export const soundIsOn = () => localStorage.getItem(KEY) === "on";

export function setSound(on: boolean): void {
  localStorage.setItem(KEY, on ? "on" : "off");
  if (on) beep();
}

let audio: AudioContext | undefined;

/** Two short tones, where the reader wants to hear them. */
export function beep(): void {
  if (!soundIsOn()) return;
  audio ??= new AudioContext();
  const now = audio.currentTime;
  for (const [at, pitch] of [
    [0, 660],
    [0.14, 880],
  ] as const) {
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    tone.frequency.value = pitch;
    volume.gain.setValueAtTime(0.12, now + at);
    volume.gain.exponentialRampToValueAtTime(0.001, now + at + 0.12);
    tone.connect(volume).connect(audio.destination);
    tone.start(now + at);
    tone.stop(now + at + 0.13);
  }
}
