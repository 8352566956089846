/** Passkeys and security keys at the hosted pages: their own script and policy, with a virtual authenticator. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { enrol, everyFactor } from '../support/factors/factors.ts'
import { createClient, makePkce } from '../support/oauth-server.ts'
import { authorizeUrl } from '../support/page-browser.ts'
import { signUpUser } from '../support/users.ts'
import { executablePath } from './chromium.ts'
import { openProvider, signInAt } from './hosted-pages.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

const keysOn = {
  ...everyFactor,
  AUTH_PASSKEY_ENABLED: 'true',
  AUTH_WEBAUTHN_RP_ID: 'localhost',
  AUTH_WEBAUTHN_RP_DISPLAY_NAME: 'Test',
}

suite('passkeys and security keys on the hosted pages', { skip }, () => {
  test('sign a user in with a passkey', async (t) => {
    const { app, url, page, evaluate, account } = await open(t, {
      transport: 'internal',
      isPasskey: true,
    })
    const token = account.access_token
    const status = await evaluate(`(async () => {
      const send = (path, body) => fetch(path, { method: 'POST', body: JSON.stringify(body),
        headers: { authorization: 'Bearer ${token}', 'content-type': 'application/json' } })
      const { options, challenge_id } = await (await send('/passkeys/registration/options', {})).json()
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
      const made = await navigator.credentials.create({ publicKey })
      const stored = await send('/passkeys/registration/verify', { challenge_id, credential: made.toJSON() })
      return stored.status
    })()`)
    assert.equal(status, 200)
    await page.goto(url)
    const passkey = page.getByRole('button', { name: 'Sign in with a passkey' })
    await passkey.click()
    await page.getByText('A sign-in method that was added within the last day').waitFor()
    await app.pool.query('delete from auth.postern_new_sign_in_methods')
    await passkey.click()
    await page.getByRole('heading', { name: 'App requests access to your account' }).waitFor()
    assert.match((await page.locator('main').textContent()) ?? '', new RegExp(account.email))
  })

  test('verify a second factor with a security key', async (t) => {
    const { app, url, page, evaluate, account } = await open(t, {
      transport: 'usb',
      isPasskey: false,
    })
    const enrolled = await enrol(app, account, { factor_type: 'webauthn', friendly_name: 'key' })
    const token = account.access_token
    const { id } = enrolled.json()
    const status = await evaluate(`(async () => {
      const send = (path, body) => fetch(path, { method: 'POST', body: JSON.stringify(body),
        headers: { authorization: 'Bearer ${token}', 'content-type': 'application/json' } })
      const body = { webauthn: { rpId: 'localhost', rpOrigins: [location.origin] } }
      const asked = await (await send('/factors/${id}/challenge', body)).json()
      const given = asked.webauthn.credential_options.publicKey
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(given)
      const made = await navigator.credentials.create({ publicKey })
      const webauthn = { type: 'create', credential_response: made.toJSON() }
      const stored = await send('/factors/${id}/verify', { challenge_id: asked.id, webauthn })
      return stored.status + (stored.ok ? '' : await stored.text())
    })()`)
    assert.equal(status, '200')
    await page.goto(url)
    await signInAt(page, account)
    await page.getByRole('heading', { name: 'Second factor' }).waitFor()
    const key = page.getByRole('button', { name: 'Use your security key' })
    await key.click()
    await page.locator('form[data-webauthn]').waitFor()
    await key.click()
    await page.getByRole('heading', { name: 'App requests access to your account' }).waitFor()
  })

  test('say that passkeys cannot be used at the address of the page', async (t) => {
    const elsewhere = {
      AUTH_WEBAUTHN_RP_ID: 'app.example',
      AUTH_WEBAUTHN_RP_ORIGINS: 'https://app.example',
    }
    const { issuer, page } = await openProvider(t, { ...keysOn, ...elsewhere }, 'localhost')
    await page.goto(`${issuer}/sign-in`)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    const message = 'Passkeys and security keys cannot be used at this address.'
    await page.getByRole('alert').getByText(message).waitFor()
  })
})

async function open(
  t: TestContext,
  { transport, isPasskey }: { transport: 'internal' | 'usb'; isPasskey: boolean },
) {
  const { app, issuer, page } = await openProvider(t, keysOn, 'localhost')
  const account = await signUpUser(app)
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport,
      automaticPresenceSimulation: true,
      hasResidentKey: isPasskey,
      hasUserVerification: isPasskey,
      isUserVerified: isPasskey,
    },
  })
  await page.goto(`${issuer}/sign-in`)
  const url = `${issuer}${authorizeUrl(await createClient(app), makePkce().challenge)}`

  /** In the page, bypassing its policy, which allows no script of a test. */
  async function evaluate(expression: string): Promise<unknown> {
    const asked = { expression, awaitPromise: true, returnByValue: true }
    const { result, exceptionDetails } = await cdp.send('Runtime.evaluate', asked)
    assert.equal(exceptionDetails, undefined, exceptionDetails?.exception?.description)
    return result.value
  }
  return { app, page, url, evaluate, account }
}
