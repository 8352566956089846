// Every sign-in method, with the published SDK only. supabase.js is @supabase/supabase-js from npm.
import { showCall, showUser, showRows, showToken, tell } from './show.js'

const $ = (selector) => document.querySelector(selector)
const here = location.origin + location.pathname

// This server does not check the key, but the SDK requires one.
const { auth } = window.supabase.createClient(location.origin, 'anon', {
  auth: { experimental: { passkey: true } },
  global: { fetch: async (input, init) => showCall(input, init, await timed(input, init)) },
})

async function timed(input, init) {
  const begin = performance.now()
  const response = await fetch(input, init)
  return { response, ms: Math.round(performance.now() - begin) }
}

/** The parameters of verifyOtp() for the code that was just sent. */
let pending
/** The second factor that is being added. */
let factorId

/** Named by data-action. Each receives the fields of its form and returns a message for the user. */
const actions = {
  async signIn({ how, email, password }) {
    if (how === 'signUp') {
      const { session } = done(
        await auth.signUp({ email, password, options: { emailRedirectTo: here } }),
      )
      return session ? undefined : expectCode({ email, type: 'email' })
    }
    if (how === 'forgot') {
      done(await auth.resetPasswordForEmail(email, { redirectTo: here }))
      return expectCode({ email, type: 'recovery' })
    }
    done(await auth.signInWithPassword({ email, password }))
  },

  async sendMail({ email }) {
    done(await auth.signInWithOtp({ email, options: { emailRedirectTo: here } }))
    return expectCode({ email, type: 'email' })
  },

  async sendText({ phone }) {
    done(await auth.signInWithOtp({ phone }))
    return expectCode({ phone, type: 'sms' })
  },

  async verifyCode({ token }) {
    const { type } = pending
    done(await auth.verifyOtp({ ...pending, token: token.trim() }))
    expectCode(undefined)
    if (type !== 'recovery') return 'The code is correct.'
    $('#password input').focus()
    return 'The code is correct: choose a new password.'
  },

  cancelCode: async () => expectCode(undefined),

  // The SDK leaves this page. The session is in the URL when the browser returns.
  async signInWithDev() {
    done(await auth.signInWithOAuth({ provider: 'dev', options: { redirectTo: here } }))
  },

  async signInWithPasskey() {
    done(await auth.signInWithPasskey())
  },

  async signInAnonymously() {
    done(await auth.signInAnonymously())
  },

  async setEmail({ email }) {
    done(await auth.updateUser({ email }, { emailRedirectTo: here }))
    return expectCode({ email, type: 'email_change' })
  },

  async setProfile({ name }) {
    done(await auth.updateUser({ data: { name } }))
    return 'The profile is saved.'
  },

  async setPassword({ password }) {
    done(await auth.updateUser({ password }))
    return 'The password is changed. Other devices were signed out.'
  },

  async addFactor() {
    const friendlyName = `App ${new Date().toLocaleTimeString()}`
    const { id, totp } = done(await auth.mfa.enroll({ factorType: 'totp', friendlyName, issuer: 'Example' }))
    factorId = id
    $('#qr').src = totp.qr_code
    $('#secret').textContent = totp.secret
    $('#enrolment').hidden = false
    $('#enrolment input').focus()
  },

  async confirmFactor({ code }) {
    done(await auth.mfa.challengeAndVerify({ factorId, code: code.trim() }))
    $('#enrolment').hidden = true
    return 'The authenticator app is confirmed.'
  },

  async verifyFactor({ code }) {
    const { totp } = done(await auth.mfa.listFactors())
    done(await auth.mfa.challengeAndVerify({ factorId: totp[0].id, code: code.trim() }))
    return 'The second factor is verified.'
  },

  async addPasskey() {
    done(await auth.registerPasskey())
    return 'The passkey was added. Sign out, then sign in with it.'
  },

  async refresh() {
    done(await auth.refreshSession())
    return 'The session has new tokens.'
  },

  signOut: async () => leave('local'),
  signOutOthers: async () => leave('others'),
  signOutEverywhere: async () => leave('global'),
}

async function leave(scope) {
  done(await auth.signOut({ scope }))
  return scope === 'others' ? 'All other devices are signed out.' : 'Signed out.'
}

/** The SDK returns errors instead of throwing them. */
function done({ data, error }) {
  if (error) throw error
  return data
}

function expectCode(wanted) {
  pending = wanted
  $('#code').hidden = !wanted
  if (!wanted) return
  $('#sent-to').textContent = wanted.email ?? wanted.phone
  $('#code input').value = ''
  $('#code input').focus()
  return 'A message was sent.'
}

async function run(name, fields = {}) {
  tell(undefined)
  try {
    tell(await actions[name](fields))
  } catch (error) {
    tell(undefined, error)
  }
  await render()
}

document.addEventListener('submit', (event) => {
  event.preventDefault()
  const { target, submitter } = event
  run(target.dataset.action, Object.fromEntries(new FormData(target, submitter)))
})
document.addEventListener('click', ({ target }) => {
  if (target.matches('button[data-action]')) run(target.dataset.action)
})

let shownFor
/** Shows the parts for the current user. */
async function render() {
  const { data } = await auth.getSession()
  const { session } = data
  showToken(session)
  $('#signed-out').hidden = session !== null
  $('#signed-in').hidden = session === null
  const id = session?.user.id
  if (shownFor !== undefined && shownFor !== (id ?? null)) $('#main').focus()
  shownFor = id ?? null
  if (!session) {
    $('#challenge').hidden = true
    return
  }
  const { data: level } = await auth.mfa.getAuthenticatorAssuranceLevel()
  $('#challenge').hidden = !(level.nextLevel === 'aal2' && level.currentLevel === 'aal1')
  // The claims of the token may be older than the account.
  const { data: fresh, error } = await auth.getUser()
  if (error) return
  showUser(fresh.user, level.currentLevel)
  await showLists(fresh.user, session)
}

async function showLists({ factors = [] }, session) {
  const apps = factors.filter(({ status }) => status === 'verified')
  showRows($('#factors'), apps, ({ id, friendly_name }) => ({
    text: friendly_name ?? 'Authenticator app',
    button: 'Remove',
    act: () => auth.mfa.unenroll({ factorId: id }),
  }), render)
  const passkeys = await auth.passkey.list()
  showRows($('#passkeys'), passkeys.data ?? [], ({ id, friendly_name }) => ({
    text: friendly_name ?? 'Passkey',
    button: 'Remove',
    act: () => auth.passkey.delete({ passkeyId: id }),
  }), render)
  const devices = await ask('GET', '/sessions', session)
  showRows($('#devices'), devices.sessions ?? [], ({ id, current, user_agent, last_used_at }) => ({
    text: `${current ? 'This device' : (user_agent ?? 'A device')}, used ${new Date(last_used_at).toLocaleString()}`,
    button: current ? undefined : 'Sign out',
    act: () => ask('DELETE', `/sessions/${id}`, session),
  }), render)
}

/** The SDK has no methods for the list of devices: plain requests with the access token. */
async function ask(method, path, { access_token }) {
  const init = { method, headers: { authorization: `Bearer ${access_token}` } }
  const response = await showCall(path, init, await timed(path, init))
  return response.status === 204 ? {} : response.json()
}

/** The message of a link or a provider that did not sign in. */
function tellFromAddress() {
  const said = new URLSearchParams(location.hash.slice(1) || location.search)
  if (said.has('error')) {
    tell(undefined, { message: said.get('error_description'), code: said.get('error_code') })
  } else if (said.has('message')) tell(said.get('message'))
  else return
  history.replaceState(null, '', location.pathname)
}

tellFromAddress()
auth.onAuthStateChange((event) => {
  // The SDK holds a lock during this callback, so the page calls it later.
  setTimeout(async () => {
    await render()
    if (event !== 'PASSWORD_RECOVERY') return
    tell('Choose a new password.')
    $('#password input').focus()
  })
})
