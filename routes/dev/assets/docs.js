// The page of the package supports dark colours, and leaves the choice to its host.
const dark = matchMedia('(prefers-color-scheme: dark)')
const choose = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', choose)
choose()

const viewport = document.createElement('meta')
viewport.name = 'viewport'
viewport.content = 'width=device-width, initial-scale=1'
document.head.append(viewport)

// Accessible names and focus that the package lacks, also for elements that it draws later.
function mend() {
  document.querySelector('#servers')?.setAttribute('aria-label', 'Server')
  for (const code of document.querySelectorAll('.microlight')) code.tabIndex = 0
}
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true })
mend()
