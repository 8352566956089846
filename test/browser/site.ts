/** A site whose users sign in through the server: it reads the fragment, or exchanges the code. */
import { createServer } from 'node:http'

import type { Ending } from '../support/processes/ending.ts'
import { serve } from '../support/processes/listening.ts'

/** Shows who is signed in, or the error. `/start` stores a verifier and requests a code. */
const page = (
  auth: string,
) => `<!doctype html><title>Site</title><p id="who"></p><script type="module">
const who = document.getElementById('who')
const base64url = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)))
  .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
const query = new URLSearchParams(location.search)
const fragment = new URLSearchParams(location.hash.slice(1))
if (location.pathname === '/start') {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)))
  sessionStorage.setItem('verifier', verifier)
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  const asked = new URLSearchParams({
    provider: query.get('provider'), code_challenge: base64url(hash), code_challenge_method: 's256',
  })
  location.href = '${auth}/authorize?' + asked
} else if (query.has('code')) {
  const body = JSON.stringify({
    auth_code: query.get('code'), code_verifier: sessionStorage.getItem('verifier'),
  })
  const response = await fetch('${auth}/token?grant_type=pkce', { method: 'POST', body })
  const session = await response.json()
  who.textContent = session.user ? session.user.email + ' by code' : JSON.stringify(session)
} else if (fragment.has('access_token')) {
  const authorization = 'Bearer ' + fragment.get('access_token')
  const response = await fetch('${auth}/user', { headers: { authorization } })
  who.textContent = (await response.json()).email + ' by ' + fragment.get('provider')
} else who.textContent = query.get('error_code') ?? 'no one'
</script>`

/** On localhost, where a page may use the browser's cryptography without TLS. */
export async function startSite(t: Ending) {
  const state = { auth: '' }
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(page(state.auth))
  })
  const port = await serve(t, server)
  return { url: `http://localhost:${port}`, state }
}
