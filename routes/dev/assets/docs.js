// The page's package knows dark colours and leaves it to others when.
const dark = matchMedia('(prefers-color-scheme: dark)')
const choose = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', choose)
choose()

const viewport = document.createElement('meta')
viewport.name = 'viewport'
viewport.content = 'width=device-width, initial-scale=1'
document.head.append(viewport)

// Names and focus that the page's package forgets, for all that it draws later as well.
function mend() {
  document.querySelector('#servers')?.setAttribute('aria-label', 'Server')
  for (const code of document.querySelectorAll('.microlight')) code.tabIndex = 0
}
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true })
mend()
