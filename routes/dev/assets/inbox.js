// The inbox: a list and one open message, whose id is the fragment of the address.
const $ = (selector, root = document) => root.querySelector(selector)
const stamp = (name) => $(`#${name}`).content.cloneNode(true)

let messages = []

async function refresh() {
  const response = await fetch('/dev/messages')
  messages = await response.json()
  render()
}

function render() {
  const wanted = $('#filter').value.trim().toLowerCase()
  const shown = messages.filter(({ to, subject, text }) =>
    [to, subject ?? text].some((field) => field.toLowerCase().includes(wanted)),
  )
  $('#count').textContent = messages.length || ''
  $('#clear').disabled = messages.length === 0
  $('#empty').hidden = shown.length > 0
  $('#empty').textContent = messages.length > 0 ? 'No message matches the filter.' : emptyText
  $('#messages').replaceChildren(...shown.map(row))
  openMessage()
}

function row(message) {
  const item = stamp('row')
  const link = $('a', item)
  link.href = `#${message.id}`
  link.dataset.id = message.id
  $('.to', item).textContent = message.to
  $('time', item).textContent = clock(message.sent_at)
  $('.what', item).textContent = message.subject ?? 'SMS'
  $('.glimpse', item).textContent = message.code ? `Code ${message.code}` : message.text
  return item
}

let openId
function openMessage() {
  const id = location.hash.slice(1)
  const message = messages.find((candidate) => candidate.id === id)
  document.body.classList.toggle('reading', message !== undefined)
  for (const link of document.querySelectorAll('#messages a')) {
    link.toggleAttribute('aria-current', link.dataset.id === message?.id)
  }
  // The open message stays open when another one arrives.
  if (message?.id === openId && message !== undefined) return
  openId = message?.id
  if (message) $('#message').replaceChildren(detail(message))
  else $('#message').replaceChildren(paragraph(messages.length > 0 ? 'Select a message.' : ''))
}

function detail(message) {
  const view = stamp('detail')
  $('h2', view).textContent = message.subject ?? 'SMS'
  const when = new Date(message.sent_at).toLocaleString()
  $('.meta', view).textContent = `To ${message.to} · ${when}`
  for (const problem of message.problems) {
    $('.proofs', view).before(paragraph(problem, 'problem'))
  }
  if (message.code) showCode($('.proof.code', view), message.code)
  for (const link of message.links) showLink($('.proofs', view), link)
  showParts(view, message)
  return view
}

function showCode(proof, code) {
  proof.hidden = false
  $('output', proof).textContent = code
  copies($('button', proof), code)
}

function showLink(proofs, link) {
  const proof = $('.proof.link', proofs).cloneNode(true)
  proof.hidden = false
  $('a', proof).textContent = link
  $('a', proof).href = link
  $('.open', proof).href = link
  copies($('button', proof), link)
  proofs.append(proof)
}

function showParts(view, { html, text }) {
  const frame = $('iframe', view)
  const pre = $('pre', view)
  pre.textContent = text
  pre.hidden = html !== null
  if (html === null) return
  $('fieldset', view).hidden = false
  frame.hidden = false
  frame.addEventListener('load', () => settle(frame))
  frame.srcdoc = html
  $('fieldset', view).addEventListener('change', ({ target }) => {
    frame.hidden = target.value !== 'html'
    pre.hidden = target.value !== 'text'
    settle(frame)
  })
}

// The frame is as high as its email, and links open in another tab.
function settle(frame) {
  const { contentDocument } = frame
  if (!contentDocument || frame.hidden) return
  for (const link of contentDocument.links) link.target = '_blank'
  frame.style.height = '0'
  frame.style.height = `${contentDocument.documentElement.scrollHeight + 2}px`
}

function copies(button, text) {
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 1500)
  })
}

function paragraph(text, kind = 'empty') {
  const element = document.createElement('p')
  element.className = kind
  element.textContent = text
  return element
}

function clock(iso) {
  const date = new Date(iso)
  const today = date.toDateString() === new Date().toDateString()
  return today ? date.toLocaleTimeString() : date.toLocaleString()
}

const emptyText = $('#empty').textContent
$('#filter').addEventListener('input', render)
$('#clear').addEventListener('click', () => fetch('/dev/messages', { method: 'DELETE' }))
addEventListener('hashchange', openMessage)
addEventListener('resize', () => {
  const frame = $('#message iframe')
  if (frame) settle(frame)
})

const events = new EventSource('/dev/events')
events.addEventListener('change', refresh)
events.addEventListener('open', () => {
  $('#offline').hidden = true
  refresh()
})
events.addEventListener('error', () => {
  $('#offline').hidden = false
})
