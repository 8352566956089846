// Frames grow to the height of their mail; the switch sets their width.
const frames = [...document.querySelectorAll('iframe.mail')]

function fit(frame) {
  const root = frame.contentDocument?.documentElement
  if (!root) return
  frame.style.height = '0'
  frame.style.height = `${root.scrollHeight + 2}px`
}

function setWidth(width) {
  for (const frame of frames) {
    frame.style.width = `min(${width}px, 100%)`
    fit(frame)
  }
}

for (const frame of frames) {
  frame.addEventListener('load', () => fit(frame))
}
addEventListener('resize', () => frames.forEach(fit))
document.querySelector('#widths').addEventListener('change', (event) => setWidth(event.target.value))
setWidth(document.querySelector('#widths input:checked').value)
