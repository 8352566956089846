/** Passkeys as users use them: in Chromium with virtual authenticators, through the SDK, on a page of localhost. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import * as esbuild from 'esbuild'
import { decodeJwt } from 'jose'
import type { CDPSession, Page } from 'playwright-core'

import { documentedUrl, readBlocks } from '../docs/javascript-blocks/blocks.ts'
import { passkeysOn } from '../support/factors/passkeys.ts'
import { waitTimeoutMs } from '../support/processes/until.ts'
import { build } from '../support/server.ts'
import { newAddress, password } from '../support/users.ts'
import { executablePath, openBrowser } from './chromium.ts'
import { startSdkSite } from './sdk-site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

/** Fields of the SDK’s responses that tests use. */
interface Result {
  data: { user?: { id: string }; id?: string; friendly_name?: string } | null
  error: { code?: string; name?: string; message: string } | null
}

suite('passkeys in a browser', { skip }, () => {
  test('registers a passkey and signs in with a device that verifies its user', async (t) => {
    const { page, device, claims } = await open(t, { AUTH_PASSKEY_AAL2: 'true' })
    await device()
    const userId = await signUp(page)
    const added = await run(page, 'client.registerPasskey()')
    assert.equal(added.error, null)
    assert.equal(added.data?.friendly_name, 'Passkey')
    await run(page, 'client.signOut()')
    const signedIn = await run(page, 'client.signInWithPasskey()')
    assert.equal(signedIn.error, null)
    assert.equal(signedIn.data?.user?.id, userId)
    assert.equal((await claims()).aal, 'aal2')
  })

  test('registers a passkey and signs in at aal1 with a device that does not verify its user', async (t) => {
    const { page, device, cdp, claims } = await open(t, { AUTH_PASSKEY_AAL2: 'true' })
    const authenticatorId = await device({ hasUserVerification: false, isUserVerified: false })
    const userId = await signUp(page)
    assert.equal((await run(page, 'client.registerPasskey()')).error, null)
    const { credentialId } = await onlyKey(cdp, authenticatorId)
    const id = Buffer.from(credentialId, 'base64').toString('base64url')
    await page.evaluate(`window.lastPasskey = '${id}'`)
    // Chromium uses such a device when the site names the passkey and does not request verification.
    const signedIn = await run(page, signInByName)
    assert.equal(signedIn.error, null)
    assert.equal(signedIn.data?.user?.id, userId)
    assert.equal((await claims()).aal, 'aal1')
  })

  test('registers no passkey on a device that cannot store one', async (t) => {
    const { page, device } = await open(t)
    await device({ hasResidentKey: false })
    await signUp(page)
    const added = await run(page, 'client.registerPasskey()')
    assert.ok(added.error)
    assert.deepEqual((await run(page, 'client.passkey.list()')).data, [])
  })

  test('registers one passkey per device and rejects a second one', async (t) => {
    const { page, device, cdp } = await open(t)
    const first = await device()
    const userId = await signUp(page)
    assert.equal((await run(page, 'client.registerPasskey()')).error, null)
    const again = await run(page, 'client.registerPasskey()')
    assert.ok(again.error, 'the device excludes itself')

    await cdp.send('WebAuthn.setUserVerified', { authenticatorId: first, isUserVerified: false })
    await presence(cdp, first, false)
    const second = await device({ transport: 'usb' })
    assert.equal((await run(page, 'client.registerPasskey()')).error, null)
    assert.equal((await run(page, 'client.signInWithPasskey()')).data?.user?.id, userId)
    await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: second })
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId: first, isUserVerified: true })
    await presence(cdp, first, true)
    assert.equal((await run(page, 'client.signInWithPasskey()')).data?.user?.id, userId)
  })

  test('rejects a passkey that was deleted on the server but is still on the device', async (t) => {
    const { page, device } = await open(t)
    await device()
    await signUp(page)
    const { data } = await run(page, 'client.registerPasskey()')
    await run(page, `client.passkey.delete({ passkeyId: '${data?.id}' })`)
    const response = await run(page, 'client.signInWithPasskey()')
    assert.equal(response.error?.code, 'webauthn_verification_failed')
  })

  test('rejects a copied device once the original has been used again', async (t) => {
    const { page, device, cdp } = await open(t)
    const authenticatorId = await device()
    await signUp(page)
    await run(page, 'client.registerPasskey()')
    const credential = await onlyKey(cdp, authenticatorId)
    assert.equal((await run(page, 'client.signInWithPasskey()')).error, null)
    assert.equal((await run(page, 'client.signInWithPasskey()')).error, null)
    await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
    const copy = await device()
    await cdp.send('WebAuthn.addCredential', { authenticatorId: copy, credential })
    const response = await run(page, 'client.signInWithPasskey()')
    assert.equal(response.error?.code, 'webauthn_verification_failed')
  })

  test('runs the code blocks of docs/passkeys.md as written', async (t) => {
    const { page, device, url } = await open(t)
    await device()
    const [create = '', add = '', signIn = '', ...others] = readBlocks('docs/passkeys.md')
    assert.deepEqual(others, [])
    const client = create.replace(documentedUrl, url)
    await page.addScriptTag({ content: await bundle(`${client}\nwindow.supabase = supabase`) })
    const credentials = JSON.stringify({ email: newAddress(), password })
    const signedUp = await run(page, `supabase.auth.signUp(${credentials})`)
    assert.equal(signedUp.error, null)
    for (const block of [add, signIn]) {
      const expression = `(async () => { ${block}\nreturn { data, error } })()`
      const outcome = await run(page, expression)
      assert.equal(outcome.error, null)
      await page.evaluate(`supabase.auth.signOut()`)
    }
  })

  test('rejects an unlisted origin that the browser accepts', async (t) => {
    const { page, device } = await open(t, { AUTH_WEBAUTHN_RP_ORIGINS: 'https://localhost' })
    await device()
    await signUp(page)
    const added = await run(page, 'client.registerPasskey()')
    assert.equal(added.error?.code, 'webauthn_verification_failed')
  })
})

interface Device {
  transport?: 'internal' | 'usb'
  hasResidentKey?: boolean
  hasUserVerification?: boolean
  isUserVerified?: boolean
}

async function open(t: TestContext, env: Record<string, string> = {}) {
  const site = await startSdkSite(t)
  const localhost = { AUTH_WEBAUTHN_RP_ID: 'localhost', AUTH_WEBAUTHN_RP_ORIGINS: site.url }
  const { app } = await build(t, { env: { ...passkeysOn, ...localhost, ...env } })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  site.state.auth = url
  const browser = await openBrowser(t, {})
  const page = await browser.newPage()
  page.setDefaultTimeout(waitTimeoutMs)
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  await page.goto(site.url)
  await page.waitForFunction(`document.title === 'ready'`)

  async function device(traits: Device = {}): Promise<string> {
    const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        automaticPresenceSimulation: true,
        hasUserVerification: true,
        isUserVerified: true,
        ...traits,
      },
    })
    return authenticatorId
  }

  /** Of the access token of the session that the SDK keeps. */
  async function claims(): Promise<Record<string, unknown>> {
    const expression = 'client.getSession().then(({ data }) => data.session.access_token)'
    return decodeJwt(String(await page.evaluate(expression)))
  }

  return { page, cdp, device, claims, url }
}

/** A module as a script that a page can load. */
async function bundle(contents: string): Promise<string> {
  const { outputFiles } = await esbuild.build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? assert.fail('nothing was bundled')
}

/** Whether a user touches the device on request. */
const presence = (cdp: CDPSession, authenticatorId: string, enabled: boolean) =>
  cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })

/** The one key pair of a device. */
async function onlyKey(cdp: CDPSession, authenticatorId: string) {
  const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId })
  const [credential, ...more] = credentials
  assert.deepEqual(more, [])
  return credential ?? assert.fail('the device has no key')
}

/** As an app does that keeps the id of the last passkey in this browser: the methods of two steps, and the browser between. */
const signInByName = `(async () => {
  const { data } = await client.passkey.startAuthentication()
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON({
    ...data.options, userVerification: 'discouraged',
    allowCredentials: [{ type: 'public-key', id: window.lastPasskey }],
  })
  const credential = await navigator.credentials.get({ publicKey })
  return client.passkey.verifyAuthentication({
    challengeId: data.challenge_id, credential: credential.toJSON(),
  })
})()`

async function signUp(page: Page): Promise<string> {
  const credentials = JSON.stringify({ email: newAddress(), password })
  const { data, error } = await run(page, `client.signUp(${credentials})`)
  assert.equal(error, null)
  return data?.user?.id ?? ''
}

/** Runs a call of the SDK in the page. A string, because this program has no DOM types. */
async function run(page: Page, expression: string): Promise<Result> {
  const told = `${expression}.then(({ data, error }) => JSON.stringify({
    data, error: error && { code: error.code, name: error.name, message: error.message },
  }))`
  return JSON.parse(String(await page.evaluate(told)))
}
