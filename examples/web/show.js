// The elements of the page. This file does not use the SDK.
const $ = (selector, root = document) => root.querySelector(selector)
const stamp = (name) => $(`#${name}`).content.firstElementChild.cloneNode(true)

/** One sentence on what was done, or the error with its code. */
export function tell(text, error) {
  $('#message').textContent = text ?? ''
  $('#message').hidden = !text
  const errorParts = error ? [error.message, error.code && `(${error.code})`] : []
  $('#error').textContent = errorParts.filter(Boolean).join(' ')
  $('#error').hidden = !error
}

export function showUser(user, level) {
  const facts = {
    Name: user.user_metadata?.name,
    Email: user.email,
    'New email': user.new_email && `${user.new_email}, not confirmed yet`,
    Phone: user.phone && `+${user.phone}`,
    Account: user.is_anonymous ? 'anonymous' : undefined,
    'Sign-in methods': user.identities?.map(({ provider }) => provider).join(', '),
    Level: level,
    Id: user.id,
  }
  const shown = Object.entries(facts).filter(([, value]) => value)
  $('#user').replaceChildren(
    ...shown.flatMap(([name, value]) => [element('dt', name), element('dd', value)]),
  )
  $('#keep h2').textContent = user.is_anonymous ? 'Keep this account' : 'Email'
  $('#keep-why').hidden = !user.is_anonymous
}

/** A list whose rows may have one button each; `after` is called when its action is done. */
export function showRows(list, entries, describe, after) {
  const rows = entries.map((entry) => {
    const { text, button, act } = describe(entry)
    const row = stamp('row')
    $('span', row).textContent = text
    if (button === undefined) $('button', row).remove()
    else {
      $('button', row).textContent = button
      $('button', row).setAttribute('aria-label', `${button}: ${text}`)
      $('button', row).addEventListener('click', async () => {
        const { error } = (await act()) ?? {}
        tell(error ? undefined : `${text}: done.`, error)
        await after()
      })
    }
    return row
  })
  list.replaceChildren(...rows)
}

export function showToken(session) {
  $('#token').hidden = !session
  $('#no-token').hidden = Boolean(session)
  if (!session) return
  const [header, claims] = session.access_token.split('.').slice(0, 2).map(decode)
  $('#claims').textContent = JSON.stringify({ header, claims }, null, 2)
  const until = new Date(claims.exp * 1000).toLocaleTimeString()
  $('#expiry').textContent = `Signed with ${header.alg}; valid until ${until}.`
}

/** base64url of JSON in UTF-8 (RFC 7515). */
function decode(part) {
  const bytes = atob(part.replaceAll('-', '+').replaceAll('_', '/'))
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (sign) => sign.charCodeAt(0))))
}

/** Adds a call to the list. The response is passed on as it is. */
export async function showCall(input, init, { response, ms }) {
  const { pathname, search } = new URL(input, location.href)
  const row = stamp('call')
  $('code', row).textContent = `${init?.method ?? 'GET'} ${pathname}`
  $('summary span', row).textContent = `${response.status} · ${ms} ms`
  const sent = typeof init?.body === 'string' ? `\n${pretty(init.body)}` : ''
  const body = pretty(await response.clone().text())
  $('pre', row).textContent = `${init?.method ?? 'GET'} ${pathname}${search}${sent}\n\n${response.status}\n${body}`
  $('#calls').prepend(row)
  return response
}

/** Passwords are not shown on the screen. */
function pretty(text) {
  try {
    const shown = (name, value) => (name === 'password' ? '…' : value)
    return JSON.stringify(JSON.parse(text, shown), null, 2)
  } catch {
    return text
  }
}

function element(name, text) {
  const made = document.createElement(name)
  made.textContent = text
  return made
}
