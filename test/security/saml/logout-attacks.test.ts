/** /sso/saml/slo: forged and invalid messages. None of them revokes a session. */
import assert from 'node:assert/strict'
import { createHmac, sign } from 'node:crypto'
import { suite, test } from 'node:test'
import { deflateRawSync } from 'node:zlib'

import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, refresh } from '../../support/requests.ts'
import { createIdp, type Idp, signedResponse } from '../../support/saml/idp.ts'
import {
  base64,
  buildLogoutRequest,
  createSamlPeer,
  idpWithLogout,
  type LogoutOptions,
  postMessage,
  signedMessage,
  visit,
} from '../../support/saml/logout.ts'
import { addIdp, post, samlOn } from '../../support/saml/server.ts'
import { type App, build } from '../../support/server.ts'
import { bodyOf200 } from '../../support/users.ts'

type Response = Awaited<ReturnType<typeof visit>>

const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'

interface Signing {
  algorithm?: string
  hash?: string
  signature?: string
  relayState?: string
}

/** The query of a LogoutRequest by HTTP-Redirect. */
function createQuery(xml: string, { privateKey }: Idp, options: Signing = {}): string {
  const { algorithm = rsaSha256, hash = 'sha256', relayState } = options
  const deflated = deflateRawSync(xml).toString('base64')
  const relay = relayState === undefined ? '' : `&RelayState=${encodeURIComponent(relayState)}`
  const text = `SAMLRequest=${encodeURIComponent(deflated)}${relay}&SigAlg=${encodeURIComponent(algorithm)}`
  const made = options.signature ?? sign(hash, Buffer.from(text), privateKey).toString('base64')
  return `${text}&Signature=${encodeURIComponent(made)}`
}

const slo = (query: string) => `/sso/saml/slo?${query}`

suite('/sso/saml/slo', () => {
  const server = sharedServers()

  async function signedIn() {
    const { app } = await server(samlOn)
    const { idp, id } = await addIdp(app, {}, idpWithLogout('HTTP-Redirect', 'HTTP-POST'))
    const { fragment } = await post(app, signedResponse({ idp }))
    const { access_token = '', refresh_token = '' } = fragment
    return { app, idp, id, access_token, refresh_token }
  }

  function assertRejected({ statusCode, headers }: Response, reason: RegExp) {
    assert.equal(statusCode, 303)
    const location = new URL(String(headers.location))
    assert.equal(location.origin, 'http://app.example')
    const { error_code = '', error_description = '' } = Object.fromEntries(location.searchParams)
    assert.match(`${error_code} ${error_description}`, reason)
  }

  async function assertSignedIn(app: App, refreshToken: string) {
    assert.equal((await refresh(app, refreshToken)).statusCode, 200)
  }

  const seconds = (count: number) => new Date(Date.now() + count * 1000)

  const wrong: Record<string, [LogoutOptions, RegExp]> = {
    'another destination': [{ destination: 'https://other.example/slo' }, /Destination/],
    'no destination': [{ destination: '' }, /Destination/],
    'an unknown issuer': [{ issuer: 'https://other.example/idp' }, /saml_idp_not_found/],
    'an old request': [{ issuedAt: seconds(-100) }, /too long ago/],
    'a request with a future time': [{ issuedAt: seconds(1000) }, /in the future/],
    'an expired request': [{ more: ` NotOnOrAfter="${seconds(-200).toISOString()}"` }, /expired/],
    'no id': [{ id: '' }, /no ID|another element/],
    'no user': [{ nameId: '' }, /no NameID/],
  }
  for (const [title, [options, reason]] of Object.entries(wrong)) {
    test(`rejects ${title} by HTTP-Redirect and by HTTP-POST`, async () => {
      const { app, idp, refresh_token } = await signedIn()
      const xml = buildLogoutRequest(idp, options)
      assertRejected(await visit(app, slo(createQuery(xml, idp))), reason)
      if (options.id !== '') {
        const posted = signedMessage(xml, idp, 'LogoutRequest')
        assertRejected(await postMessage(app, { SAMLRequest: base64(posted) }), reason)
      }
      await assertSignedIn(app, refresh_token)
    })
  }

  const queries: Record<string, [(xml: string, idp: Idp) => string, RegExp]> = {
    'no signature': [
      (xml, idp) => createQuery(xml, idp).replace(/&SigAlg=.*/, ''),
      /it is not signed/,
    ],
    'an empty signature': [(xml, idp) => createQuery(xml, idp, { signature: '' }), /not signed/],
    'the signature of another key': [
      (xml, { entityId }) => createQuery(xml, createIdp(entityId)),
      /signature is not valid/,
    ],
    'RSA-SHA1': [
      (xml, idp) =>
        createQuery(xml, idp, {
          algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1',
          hash: 'sha1',
        }),
      /SigAlg is not allowed/,
    ],
    'an HMAC keyed with the public certificate': [
      (xml, idp) =>
        createQuery(xml, idp, {
          algorithm: 'http://www.w3.org/2000/09/xmldsig#hmac-sha1',
          signature: createHmac('sha1', idp.certificate).update(xml).digest('base64'),
        }),
      /SigAlg is not allowed/,
    ],
    'an algorithm that is a property of every object': [
      (xml, idp) => createQuery(xml, idp, { algorithm: 'constructor' }),
      /SigAlg is not allowed/,
    ],
    'a RelayState that was not signed': [
      (xml, idp) => `${createQuery(xml, idp)}&RelayState=x`,
      /signature is not valid/,
    ],
    'a request next to the signed one': [
      (xml, idp) => `${createQuery(xml, idp)}&SAMLRequest=x`,
      /parameter is repeated/,
    ],
    'a request and a response': [
      (xml, idp) => `${createQuery(xml, idp)}&SAMLResponse=x`,
      /one SAMLRequest or SAMLResponse/,
    ],
    'an invalid encoding': [() => 'SAMLRequest=%', /not URL-encoded/],
    'data that cannot be inflated': [() => `SAMLRequest=${base64('<a/>')}`, /inflated/],
    'data that inflates to more than 1 MiB': [
      (_xml, idp) => createQuery(' '.repeat(2_000_000), idp),
      /inflated/,
    ],
    'an entity': [
      (xml, idp) => createQuery(`<!DOCTYPE r [<!ENTITY e "ann">]>${xml}`, idp),
      /document type/,
    ],
  }
  for (const [title, [make, reason]] of Object.entries(queries)) {
    test(`rejects ${title} by HTTP-Redirect`, async () => {
      const { app, idp, refresh_token } = await signedIn()
      assertRejected(await visit(app, slo(make(buildLogoutRequest(idp), idp))), reason)
      await assertSignedIn(app, refresh_token)
    })
  }

  const forms: Record<string, [(xml: string, idp: Idp) => string, RegExp]> = {
    'no signature': [(xml) => xml, /not signed/],
    'the signature of another key': [
      (xml, { entityId }) => signedMessage(xml, createIdp(entityId), 'LogoutRequest'),
      /signature is not valid/,
    ],
    'a changed NameID': [
      (xml, idp) => signedMessage(xml, idp, 'LogoutRequest').replace('>bob<', '>ann<'),
      /signature is not valid/,
    ],
    'a signed request inside another': [
      (xml, idp) => {
        const inner = signedMessage(xml, idp, 'LogoutRequest')
        const outer = buildLogoutRequest(idp)
        return outer.replace('</samlp:LogoutRequest>', `${inner}</samlp:LogoutRequest>`)
      },
      /signature out of place/,
    ],
    'an assertion instead of a request': [
      (_xml, idp) => signedResponse({ idp }),
      /not a LogoutRequest or LogoutResponse/,
    ],
  }
  for (const [title, [make, reason]] of Object.entries(forms)) {
    test(`rejects ${title} by HTTP-POST`, async () => {
      const { app, idp, refresh_token } = await signedIn()
      const xml = make(buildLogoutRequest(idp, { nameId: 'bob' }), idp)
      assertRejected(await postMessage(app, { SAMLRequest: base64(xml) }), reason)
      await assertSignedIn(app, refresh_token)
    })
  }

  test('accepts a logout request once', async () => {
    const { app, idp } = await signedIn()
    const query = createQuery(buildLogoutRequest(idp), idp)
    assert.equal((await visit(app, slo(query))).statusCode, 302)
    const { fragment } = await post(app, signedResponse({ idp }))
    assertRejected(await visit(app, slo(query)), /already used/)
    await assertSignedIn(app, fragment.refresh_token ?? '')
  })

  test('does not revoke sessions of another provider with the same NameID', async () => {
    const { app, refresh_token } = await signedIn()
    const other = await addIdp(app, {}, idpWithLogout('HTTP-Redirect'))
    const query = createQuery(buildLogoutRequest(other.idp), other.idp)
    assert.equal((await visit(app, slo(query))).statusCode, 302)
    await assertSignedIn(app, refresh_token)
  })

  test('rejects a request of a provider that is disabled', async () => {
    const { app, idp, id, refresh_token } = await signedIn()
    const disabled = { disabled: true }
    await app.db.updateTable('sso_providers').set(disabled).where('id', '=', id).execute()
    assertRejected(await visit(app, slo(createQuery(buildLogoutRequest(idp), idp))), /disabled/)
    await assertSignedIn(app, refresh_token)
  })

  test('rejects a response to another request, of another provider, of failure, and without RelayState', async () => {
    const { app, idp } = await signedIn()
    const other = await addIdp(app, {}, idpWithLogout('HTTP-Redirect'))
    const begun = async () => {
      const { fragment } = await post(app, signedResponse({ idp }))
      const token = fragment.access_token ?? ''
      const { url } = bodyOf200<{ url: string }>(await call(app, '/logout/sso', {}, { token }))
      return new URL(url).searchParams
    }
    const peer = await createSamlPeer(app, idp)
    const unrelated = await createSamlPeer(app, other.idp)
    const respond = async (by: typeof peer, id: string, relay: string, isSuccess = true) =>
      visit(
        app,
        await by.getLogoutResponseUrlAsync(
          { ID: id, issuer: '', nameID: '', nameIDFormat: '' },
          relay,
          {},
          isSuccess,
        ),
      )
    const read = async (query: URLSearchParams) => {
      const { profile } = await peer.validateRedirectAsync(
        Object.fromEntries(query),
        query.toString(),
      )
      return { id: String(profile?.ID), relay: query.get('RelayState') ?? '' }
    }
    const first = await begun()
    const { relay } = await read(first)
    assertRejected(await respond(peer, '_another', relay), /not a response/)
    const second = await read(await begun())
    assertRejected(
      await respond(unrelated, second.id, second.relay),
      /signature is not valid|issuer/,
    )
    const third = await read(await begun())
    assertRejected(await respond(peer, third.id, third.relay, false), /did not log the user out/)
    assertRejected(await respond(peer, third.id, ''), /saml_relay_state_not_found/)
  })

  test('writes no content of a rejected request to the log or the redirect', async (t) => {
    const lines: string[] = []
    const { app } = await build(t, { env: samlOn, lines })
    const { idp } = await addIdp(app, {}, idpWithLogout('HTTP-POST'))
    const xml = buildLogoutRequest(idp, { nameId: 'canary-in-the-document' })
    const response = await postMessage(app, { SAMLRequest: base64(xml) })
    assert.ok(!decodeURIComponent(String(response.headers.location)).includes('canary'))
    assert.ok(!lines.join('').includes('canary-in-the-document'))
    assert.match(lines.join(''), /SAML message rejected/)
  })
})
