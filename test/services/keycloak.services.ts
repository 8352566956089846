/**
 * Keycloak as an identity provider: signed and encrypted, both bindings, single logout. Its archive is large and takes
 * minutes to start, so that it is run by hand: KEYCLOAK_URL names one that was started with
 * `KC_BOOTSTRAP_ADMIN_USERNAME=admin KC_BOOTSTRAP_ADMIN_PASSWORD=admin bin/kc.sh start-dev`.
 */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import { endingOfSuite } from '../support/processes/ending.ts'
import { call, refresh } from '../support/requests.ts'
import { formIn, postMessage, sloUrl, visit } from '../support/saml/logout.ts'
import { ask, postForm, samlOn } from '../support/saml/server.ts'
import { type App, build } from '../support/server.ts'
import { bodyOf200 } from '../support/users.ts'
import { openBrowser } from './form-browser.ts'

const keycloak = process.env.KEYCLOAK_URL ?? ''
const skip = keycloak === '' && 'KEYCLOAK_URL is not set'
const realm = `staff-${crypto.randomUUID().slice(0, 8)}`
const entityId = 'http://auth.example/sso/saml/metadata'
const acsUrl = 'http://auth.example/sso/saml/acs'

suite('Keycloak', { skip }, () => {
  const ending = endingOfSuite()
  let app: App
  let id = ''
  let metadata = ''

  before(async () => {
    const env = { ...samlOn, AUTH_SAML_ALLOW_ENCRYPTED_ASSERTIONS: 'true' }
    app = (await build(ending, { env })).app
    const { body } = await app.inject('/sso/saml/metadata')
    await createRealm(/<X509Certificate>([^<]+)/.exec(body)?.[1] ?? '')
    const document = await fetch(`${keycloak}/realms/${realm}/protocol/saml/descriptor`)
    metadata = await document.text()
    const added = await ask(app, 'POST', '', { type: 'saml', metadata_xml: metadata })
    assert.equal(added.statusCode, 201, added.body)
    id = added.json().id
  })

  async function signIn(browser = openBrowser()) {
    const body = { provider_id: id, skip_http_redirect: true }
    const { url } = bodyOf200<{ url: string }>(await call(app, '/sso', body))
    const page = url.startsWith('http://auth.example')
      ? formIn((await visit(app, url)).body)
      : undefined
    const posted = await browser.run(page ?? { action: url }, {
      username: 'ann',
      password: 'secret',
    })
    const redirect = await postForm(app, posted.fields)
    assert.equal(redirect.status, 302, redirect.location.href)
    const { access_token = '', refresh_token = '' } = redirect.fragment
    assert.equal(decodeJwt(access_token).email, 'ann@corp.example')
    return { access_token, refresh_token }
  }

  test('signs a user in by HTTP-Redirect with a signed and encrypted assertion', async () => {
    await signIn()
  })

  test('signs a user in by HTTP-POST', async () => {
    const metadata_xml = metadata.replace(
      /(<md:SingleSignOnService [^>]*bindings:)HTTP-Redirect/,
      '$1PAOS',
    )
    assert.equal((await ask(app, 'PUT', `/${id}`, { metadata_xml })).statusCode, 200)
    await signIn()
    await ask(app, 'PUT', `/${id}`, { metadata_xml: metadata })
  })

  test('ends the session at the provider when the user logs out at the server', async () => {
    const browser = openBrowser()
    const { access_token: token } = await signIn(browser)
    const redirect_to = 'http://app.example/goodbye'
    const { url } = bodyOf200<{ url: string }>(
      await call(app, '/logout/sso', { redirect_to }, { token }),
    )
    const back = await browser.run({ action: url })
    const response =
      Object.keys(back.fields).length > 0
        ? await postMessage(app, back.fields)
        : await visit(app, back.action)
    assert.equal(response.headers.location, redirect_to)
  })

  test('revokes the session at the server when the user logs out at the provider', async () => {
    const browser = openBrowser()
    const { refresh_token } = await signIn(browser)
    const there = `${keycloak}/realms/${realm}/protocol/openid-connect/logout`
    const asked = await browser.run({ action: there })
    const response =
      Object.keys(asked.fields).length > 0
        ? await postMessage(app, asked.fields)
        : await visit(app, asked.action)
    assert.ok([200, 302].includes(response.statusCode), response.body)
    assert.ok(
      !String(response.headers.location).includes('error'),
      String(response.headers.location),
    )
    assert.equal((await refresh(app, refresh_token)).statusCode, 400)
  })
})

async function createRealm(certificate: string): Promise<void> {
  const form = {
    client_id: 'admin-cli',
    grant_type: 'password',
    username: 'admin',
    password: 'admin',
  }
  const token = await fetch(`${keycloak}/realms/master/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  const { access_token } = Object(await token.json())
  const base64 = certificate
  const response = await fetch(`${keycloak}/admin/realms`, {
    method: 'POST',
    headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      realm,
      enabled: true,
      sslRequired: 'none',
      users: [
        {
          username: 'ann',
          enabled: true,
          email: 'ann@corp.example',
          emailVerified: true,
          firstName: 'Ann',
          lastName: 'Lee',
          credentials: [{ type: 'password', value: 'secret' }],
        },
      ],
      clients: [
        {
          clientId: entityId,
          protocol: 'saml',
          frontchannelLogout: true,
          redirectUris: [acsUrl, sloUrl],
          attributes: {
            'saml.assertion.signature': 'true',
            'saml.server.signature': 'true',
            'saml.client.signature': 'true',
            'saml.signing.certificate': base64,
            'saml.encrypt': 'true',
            'saml.encryption.certificate': base64,
            'saml.signature.algorithm': 'RSA_SHA256',
            'saml.authnstatement': 'true',
            saml_name_id_format: 'persistent',
            saml_assertion_consumer_url_post: acsUrl,
            saml_single_logout_service_url_redirect: sloUrl,
          },
          protocolMappers: [
            {
              name: 'X500 email',
              protocol: 'saml',
              protocolMapper: 'saml-user-property-mapper',
              config: {
                'user.attribute': 'email',
                'friendly.name': 'email',
                'attribute.name': 'urn:oid:1.2.840.113549.1.9.1',
                'attribute.nameformat': 'URI Reference',
              },
            },
          ],
        },
      ],
    }),
  })
  assert.equal(response.status, 201, await response.text())
}
