// The table of contents is open where there is space for it. The search runs in this page.
const $ = (selector) => document.querySelector(selector)
const contents = $('.pages details')
const isWide = matchMedia('(min-width: 900px)')
const fold = () => {
  contents.open = isWide.matches
}
isWide.addEventListener('change', fold)
fold()
// The element scrolls itself: scrollIntoView would scroll the page as well, and hide its heading.
const list = $('.pages')
const current = $('.pages [aria-current]')
if (current) {
  const { bottom } = current.getBoundingClientRect()
  list.scrollTop += Math.max(0, bottom - list.getBoundingClientRect().top - list.clientHeight + 24)
}

for (const block of document.querySelectorAll('.block')) {
  const button = element('button', 'Copy')
  button.type = 'button'
  button.className = 'copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('pre').innerText)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2000)
  })
  block.append(button)
}

const field = $('#search input')
let index
/** Loaded at the first search. */
function load() {
  index ??= Promise.all([import('/docs/guide/minisearch.js'), fetch('/docs/guide/search.json')]).then(
    async ([{ default: MiniSearch }, response]) => {
      const made = new MiniSearch({
        fields: ['title', 'page', 'text'],
        storeFields: ['title', 'page', 'url', 'text'],
        searchOptions: { boost: { title: 3, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
      })
      made.addAll(await response.json())
      return made
    },
  )
  return index
}

async function search() {
  const words = field.value.trim()
  const hits = words === '' ? [] : (await load()).search(words).slice(0, 20)
  if (field.value.trim() !== words) return
  $('#found').hidden = words === ''
  $('article').hidden = words !== ''
  const heading = element('h1', hits.length > 0 ? `Found for “${words}”` : `Nothing found for “${words}”`)
  $('#found').replaceChildren(heading, ...hits.map((hit) => entry(hit, words)))
}

function entry({ title, page, url, text }, words) {
  const link = element('a', title || page)
  link.href = url
  // A link within this page changes nothing but the fragment.
  link.addEventListener('click', () => {
    field.value = ''
    search()
  })
  const place = element('p', page)
  place.className = 'note'
  const item = document.createElement('div')
  item.append(link, place, element('p', glimpse(text, words)))
  return item
}

/** The words around the first match. */
function glimpse(text, words) {
  const plain = text.replaceAll(/\s+/g, ' ')
  const at = plain.toLowerCase().indexOf(words.split(' ')[0].toLowerCase())
  const from = at > 80 ? plain.indexOf(' ', at - 80) + 1 : 0
  return `${from > 0 ? '… ' : ''}${plain.slice(from, from + 220)} …`
}

function element(name, text) {
  const made = document.createElement(name)
  made.textContent = text
  return made
}

field.addEventListener('focus', load)
field.addEventListener('input', search)
$('#search').addEventListener('submit', (event) => {
  event.preventDefault()
  $('#found a')?.click()
})
addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.matches('input, textarea')) return
  event.preventDefault()
  field.focus()
})
