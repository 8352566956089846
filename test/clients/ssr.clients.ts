/** @supabase/ssr: sessions in cookies, shared by the browser and a site that renders on its server. */
import assert from 'node:assert/strict'

import { type CookieMethodsServer, createBrowserClient, createServerClient } from '@supabase/ssr'

import { newAddress, password } from '../support/users.ts'
import { client, type RunJourney } from './journeys.ts'
import { site, type World } from './world.ts'

/** The maximum cookie size of browsers, with room for attributes. */
const maxCookieLength = 4000

/** The template of server-side rendering guides: its link leads to a page that sends `token_hash` to POST /verify. */
const template = (type: string) =>
  `<p><a href="{{ .SiteURL }}/auth/confirm?token_hash={{ .TokenHash }}&type=${type}">Continue</a> {{ .Token }}</p>`

const templates = {
  AUTH_MAILER_TEMPLATES_CONFIRMATION: template('email'),
  AUTH_MAILER_TEMPLATES_RECOVERY: template('recovery'),
}

client('ssr', journey, {}, templates)

async function journey(world: World, runJourney: RunJourney) {
  const { url, anonKey, nextCode, nextTokenHash, visit } = world

  /** One browser: cookies shared by its page and the site’s server. */
  function newBrowser() {
    const jar = new Map<string, string>()
    const cookies = {
      getAll: () => [...jar].map(([name, value]) => ({ name, value })),
      setAll(changes: Parameters<NonNullable<CookieMethodsServer['setAll']>>[0]) {
        for (const { name, value, options } of changes) {
          assert.ok(name.length + value.length < maxCookieLength, `${name}: ${value.length}`)
          if (value === '' || options.maxAge === 0) jar.delete(name)
          else jar.set(name, value)
        }
      },
    }
    return {
      jar,
      page: () => createBrowserClient(url, anonKey, { cookies, isSingleton: false }).auth,
      /** Handles one request of the browser. */
      request: () => createServerClient(url, anonKey, { cookies }).auth,
    }
  }

  async function registeredUser() {
    const [email, browser] = [newAddress(), newBrowser()]
    ok(await browser.request().signUp({ email, password }))
    const token_hash = await nextTokenHash(email)
    ok(await browser.request().verifyOtp({ type: 'email', token_hash }))
    return { email, browser }
  }

  await runJourney('sign-up and confirmation', async () => {
    const { email, browser } = await registeredUser()
    assert.equal(ok(await browser.request().getUser()).data.user?.email, email)
    assert.equal(ok(await browser.page().getSession()).data.session?.user.email, email)
  })

  await runJourney('password, user, metadata', async () => {
    const { email } = await registeredUser()
    const browser = newBrowser()
    ok(await browser.request().signInWithPassword({ email, password }))
    ok(await browser.request().updateUser({ data: { long: 'x'.repeat(6000) } }))
    ok(await browser.request().refreshSession())
    assert.ok(browser.jar.size > 2, 'one cookie does not hold it')
    const { data } = ok(await browser.request().getUser())
    assert.equal(data.user?.user_metadata.long.length, 6000)
    assert.equal((await browser.request().getClaims()).data?.claims.email, email)
  })

  await runJourney('refresh and sign-out', async () => {
    const { browser } = await registeredUser()
    const before = [...browser.jar.values()].join()
    ok(await browser.request().refreshSession())
    assert.notEqual([...browser.jar.values()].join(), before)
    assert.ok((await browser.page().getUser()).data.user)
    ok(await browser.request().signOut())
    assert.equal((await browser.page().getSession()).data.session, null)
    assert.equal(browser.jar.size, 0)
  })

  await runJourney('code by email', async () => {
    const [email, browser] = [newAddress(), newBrowser()]
    ok(await browser.page().signInWithOtp({ email }))
    const token = await nextCode(email)
    ok(await browser.request().verifyOtp({ email, token, type: 'email' }))
    assert.equal(ok(await browser.page().getUser()).data.user?.email, email)
  })

  await runJourney('recovery, new password', async () => {
    const { email } = await registeredUser()
    const browser = newBrowser()
    ok(await browser.page().resetPasswordForEmail(email))
    const token_hash = await nextTokenHash(email)
    ok(await browser.request().verifyOtp({ type: 'recovery', token_hash }))
    ok(await browser.page().updateUser({ password: 'a brand new password' }))
  })

  await runJourney('external provider', async () => {
    const browser = newBrowser()
    const options = { skipBrowserRedirect: true, redirectTo: `${site}/auth/callback` }
    const started = ok(await browser.page().signInWithOAuth({ provider: 'github', options }))
    const redirect = await visit(started.data.url ?? '')
    const code = redirect.searchParams.get('code') ?? ''
    // The verifier is in a cookie that the page has set.
    ok(await browser.request().exchangeCodeForSession(code))
    assert.ok(ok(await browser.request().getUser()).data.user?.email)
    const other = await newBrowser().request().exchangeCodeForSession(code)
    assert.ok(other.error)
  })

  await runJourney('anonymous user', async () => {
    const browser = newBrowser()
    ok(await browser.page().signInAnonymously())
    assert.equal(ok(await browser.request().getUser()).data.user?.is_anonymous, true)
  })

  await runJourney('error codes', async () => {
    const browser = newBrowser()
    const wrong = await browser.request().signInWithPassword({ email: newAddress(), password })
    assert.equal(wrong.error?.code, 'invalid_credentials')
    assert.equal((await browser.request().getUser()).error?.name, 'AuthSessionMissingError')
  })
}

function ok<Answer extends { error: unknown }>(response: Answer): Answer {
  assert.equal(response.error, null)
  return response
}
