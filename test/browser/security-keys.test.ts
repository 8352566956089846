/** Security keys as second factors: the SDK in a real browser, with virtual authenticators. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { CDPSession } from 'playwright-core'

import { everyFactor } from '../support/factors/factors.ts'
import { waitTimeoutMs } from '../support/processes/until.ts'
import { build } from '../support/server.ts'
import { newAddress, password } from '../support/users.ts'
import { executablePath, openBrowser } from './chromium.ts'
import { startSdkSite } from './sdk-site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

interface Device {
  hasResidentKey: boolean
  hasUserVerification: boolean
}

/** All are USB keys: the SDK requests no other authenticators. */
const devices: Record<string, Device> = {
  'a key without a PIN': { hasResidentKey: false, hasUserVerification: false },
  'a key with discoverable credentials': { hasResidentKey: true, hasUserVerification: false },
  'a key with a PIN': { hasResidentKey: false, hasUserVerification: true },
  'a key with discoverable credentials and a PIN': {
    hasResidentKey: true,
    hasUserVerification: true,
  },
}

/** The result of the SDK: the level of the session, or the code of an error. */
const outcome = `({ data, error }) => error
  ? error.code ?? error.name
  : JSON.parse(atob(data.access_token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/'))).aal`

suite('security keys in a browser', { skip }, () => {
  for (const [name, device] of Object.entries(devices)) {
    test(`${name}: registers and verifies after the next sign-in`, async (t) => {
      const { plug, run, signIn } = await open(t)
      await plug(device)
      assert.equal(await run(register('my key')), 'aal2')
      await signIn()
      assert.equal(await run(authenticate), 'aal2')
    })
  }

  test('accepts either of two keys and registers neither twice', async (t) => {
    const { plug, run, signIn } = await open(t)
    const first = await plug(devices['a key without a PIN'])
    assert.equal(await run(register('first')), 'aal2')
    assert.equal(await run(register('first again')), 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED')
    await first.unplug()
    await plug(devices['a key without a PIN'])
    assert.equal(await run(register('second')), 'aal2')
    await signIn()
    assert.equal(await run(authenticate), 'aal2')
  })

  test('does not request a key whose factor was removed', async (t) => {
    const { plug, run, signIn } = await open(t)
    await plug(devices['a key without a PIN'])
    assert.equal(await run(register('my key')), 'aal2')
    const factorId = await run('(await client.mfa.listFactors()).data.webauthn[0].id')
    const removed = `(await client.mfa.unenroll({ factorId: '${factorId}' })).data.id`
    assert.equal(await run(removed), factorId)
    await signIn()
    const { data } = JSON.parse(
      String(await run('JSON.stringify(await client.mfa.getAuthenticatorAssuranceLevel())')),
    )
    assert.deepEqual([data.currentLevel, data.nextLevel], ['aal1', 'aal1'])
  })
})

const register = (name: string) =>
  `(${outcome})(await client.mfa.webauthn.register({ friendlyName: '${name}' }))`

const authenticate = `(${outcome})(await client.mfa.webauthn.authenticate({
  factorId: (await client.mfa.listFactors()).data.webauthn[0].id }))`

async function open(t: TestContext) {
  const site = await startSdkSite(t)
  const env = {
    ...everyFactor,
    AUTH_SITE_URL: site.url,
    AUTH_WEBAUTHN_RP_ID: 'localhost',
    AUTH_WEBAUTHN_RP_ORIGINS: site.url,
  }
  const { app } = await build(t, { env })
  site.state.auth = await app.listen({ host: '127.0.0.1', port: 0 })
  const browser = await openBrowser(t, {})
  const page = await browser.newPage()
  page.setDefaultTimeout(waitTimeoutMs)
  await page.goto(site.url)
  await page.waitForFunction(`document.title === 'ready'`)
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')

  const run = (expression: string) => page.evaluate(`(async () => ${expression})()`)
  const who = JSON.stringify({ email: newAddress(), password })
  assert.equal(await run(`(await client.signUp(${who})).error`), null)
  return {
    run,
    plug: (device = devices['a key without a PIN']) => plug(cdp, device),
    async signIn() {
      assert.equal(await run(`(await client.signOut()).error`), null)
      assert.equal(await run(`(await client.signInWithPassword(${who})).error`), null)
    },
  }
}

async function plug(cdp: CDPSession, device: Device | undefined) {
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'usb',
      hasResidentKey: device?.hasResidentKey ?? false,
      hasUserVerification: device?.hasUserVerification ?? false,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return { unplug: () => cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId }) }
}
