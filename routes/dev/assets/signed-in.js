// The default target of links: shows the session or the error that it was sent.
const $ = (selector) => document.querySelector(selector)
const fragment = new URLSearchParams(location.hash.slice(1))
const query = new URLSearchParams(location.search)
const value = (name) => fragment.get(name) ?? query.get(name)

async function show() {
  if (fragment.has('access_token')) return showSession(fragment.get('access_token'))
  if (value('error')) {
    say('Sign-in failed', `${value('error_description')} (${value('error_code') ?? value('error')})`)
  } else if (value('message')) say('One more step', value('message'))
  else if (query.has('code')) {
    say(
      'This link has an authorization code',
      'The app that requested this link uses PKCE: only this app can exchange the code for a session. Set its own address as redirect_to.',
    )
  }
}

async function showSession(token) {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch('/user', { headers })
  const user = await response.json()
  if (!response.ok) return say('The session has ended', user.msg)
  say(`${user.email || user.phone || 'An anonymous user'} is signed in`, '')
  const facts = {
    'Signed in with': fragment.get('provider') ?? fragment.get('type') ?? 'email',
    Id: user.id,
    'Refresh token': fragment.get('refresh_token'),
    'Expires in': `${fragment.get('expires_in')} seconds`,
  }
  $('#user').replaceChildren(
    ...Object.entries(facts).flatMap(([name, text]) => [element('dt', name), element('dd', text)]),
  )
  const [header, claims] = token.split('.').slice(0, 2).map(decode)
  $('#claims').textContent = JSON.stringify({ header, claims }, null, 2)
  $('#raw').textContent = token
  $('#token').hidden = false
}

function say(heading, what) {
  $('#heading').textContent = heading
  $('#what').textContent = what
  $('#what').hidden = what === ''
}

/** base64url of JSON in UTF-8 (RFC 7515). */
function decode(part) {
  const bytes = atob(part.replaceAll('-', '+').replaceAll('_', '/'))
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (sign) => sign.charCodeAt(0))))
}

function element(name, text) {
  const made = document.createElement(name)
  made.textContent = text
  return made
}

addEventListener('hashchange', () => location.reload())
show()
