/** Where the browser lands when a SAML sign-in or logout fails: at the allowed redirect_to of the request. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { deflateRawSync } from 'node:zlib'

import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, refresh } from '../../support/requests.ts'
import {
  buildAssertion,
  buildSamlResponse,
  type Idp,
  signedResponse,
} from '../../support/saml/idp.ts'
import {
  base64,
  createSamlPeer,
  idpWithLogout,
  postMessage,
  signedMessage,
  visit,
} from '../../support/saml/logout.ts'
import { addIdp, begin, post, requestIn, samlOn } from '../../support/saml/server.ts'
import type { App } from '../../support/server.ts'
import { bodyOf200 } from '../../support/users.ts'

const site = 'http://app.example/'
const redirect_to = 'http://app.example/after?a=1'
const foreign = 'https://evil.example/'

const whereTo = (location: URL) => `${location.origin}${location.pathname}`

suite('a SAML sign-in that fails', () => {
  const server = sharedServers()

  test('returns to the redirect_to of its request, which keeps its query', async () => {
    const { app } = await server(samlOn)
    const { idp, id } = await addIdp(app)
    const { relayState, requestId } = await begin(app, { provider_id: id, redirect_to })
    const unsigned = buildSamlResponse({ idp, requestId }, buildAssertion({ idp, requestId }))
    const { status, location, query } = await post(app, unsigned, relayState)
    assert.equal(status, 303)
    assert.equal(whereTo(location), 'http://app.example/after')
    assert.deepEqual([query.a, query.error_code, location.hash], ['1', 'validation_failed', ''])
    assert.match(query.error_description ?? '', /neither it nor its assertion is signed\. Have the/)
  })

  test('returns to it after too long a time as well', async () => {
    const { app } = await server(samlOn)
    const { idp, id } = await addIdp(app)
    const { relayState, requestId } = await begin(app, { provider_id: id, redirect_to })
    const old = { created_at: new Date(Date.now() - 130_000) }
    await app.db.updateTable('saml_relay_states').set(old).where('id', '=', relayState).execute()
    const { location, query } = await post(app, signedResponse({ idp, requestId }), relayState)
    assert.equal(query.error_code, 'saml_relay_state_expired')
    assert.equal(whereTo(location), 'http://app.example/after')
  })

  test('returns to an allowed RelayState when it started at the identity provider', async () => {
    const { app } = await server(samlOn)
    const { idp } = await addIdp(app)
    const unsigned = buildSamlResponse({ idp }, buildAssertion({ idp }))
    for (const [relayState, expected] of [
      [redirect_to, 'http://app.example/after'],
      ['/path', 'http://app.example/path'],
      [foreign, site],
      ['', site],
    ] as const) {
      const { location, query } = await post(app, unsigned, relayState)
      assert.equal(whereTo(location), expected)
      assert.equal(query.error_code, 'validation_failed')
    }
  })

  test('returns to the site for a redirect_to that is not allowed, and an unknown sign-in', async () => {
    const { app } = await server(samlOn)
    const { idp, id } = await addIdp(app)
    const { relayState } = await begin(app, { provider_id: id, redirect_to: foreign })
    const xml = signedResponse({ idp })
    assert.equal(whereTo((await post(app, xml, relayState)).location), site)
    assert.equal(whereTo((await post(app, xml, crypto.randomUUID())).location), site)
  })

  const statuses: Record<string, RegExp> = {
    InvalidNameIDPolicy:
      /did not sign the user in\. It does not send the requested NameID format: set name_id_format/,
    RequestDenied: /assign the user to the application/,
    AuthnFailed: /not authenticated/,
    Unknown: /did not sign the user in$/,
  }
  for (const [code, reason] of Object.entries(statuses)) {
    test(`says what the status ${code} means`, async () => {
      const { app } = await server(samlOn)
      const { idp } = await addIdp(app)
      const status = 'urn:oasis:names:tc:SAML:2.0:status:'
      const xml = buildSamlResponse({ idp }).replace(
        `Value="${status}Success"/>`,
        `Value="${status}Requester"><samlp:StatusCode Value="${status}${code}"/></samlp:StatusCode>`,
      )
      assert.match((await post(app, xml)).query.error_description ?? '', reason)
    })
  }
})

suite('the response to a SAML logout', () => {
  const server = sharedServers()

  /** A logout that was sent to the provider. */
  async function loggedOut() {
    const { app } = await server(samlOn)
    const { idp } = await addIdp(app, {}, idpWithLogout('HTTP-Redirect', 'HTTP-POST'))
    const { fragment } = await post(app, signedResponse({ idp }))
    const token = fragment.access_token ?? ''
    const { url } = bodyOf200<{ url: string }>(
      await call(app, '/logout/sso', { redirect_to }, { token }),
    )
    assert.equal((await refresh(app, fragment.refresh_token ?? '')).statusCode, 400)
    const { request, relayState } = requestIn(url)
    return { app, idp, relayState, requestId: / ID="([^"]+)"/.exec(request)?.[1] ?? '' }
  }

  /** As in the documentation of Entra ID: no signature and no Destination. */
  const buildResponse = ({ entityId }: Idp, requestId: string, status = 'Success') =>
    `<samlp:LogoutResponse ID="_${crypto.randomUUID()}" Version="2.0" IssueInstant="${new Date().toISOString()}" InResponseTo="${requestId}" xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"><Issuer xmlns="urn:oasis:names:tc:SAML:2.0:assertion">${entityId}</Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${status}"/></samlp:Status></samlp:LogoutResponse>`

  const byRedirect = (app: App, xml: string, relayState: string) => {
    const deflated = encodeURIComponent(deflateRawSync(xml).toString('base64'))
    return visit(app, `/sso/saml/slo?SAMLResponse=${deflated}&RelayState=${relayState}`)
  }

  test('needs no signature, and leads to redirect_to', async () => {
    const { app, idp, relayState, requestId } = await loggedOut()
    const xml = buildResponse(idp, requestId)
    const { statusCode, headers } = await byRedirect(app, xml, relayState)
    assert.deepEqual([statusCode, headers.location], [302, redirect_to])
    const again = await byRedirect(app, xml, relayState)
    assert.match(
      String(again.headers.location),
      /^http:\/\/app\.example\/\?.*saml_relay_state_not_found/,
    )
    const posted = await loggedOut()
    const fields = {
      SAMLResponse: base64(buildResponse(posted.idp, posted.requestId)),
      RelayState: posted.relayState,
    }
    const done = await postMessage(posted.app, fields)
    assert.deepEqual([done.statusCode, done.headers.location], [302, redirect_to])
  })

  const rejected: Record<string, [(idp: Idp, requestId: string) => string, RegExp]> = {
    'to another request': [
      (idp) => buildResponse(idp, 'id-other'),
      /not a response to the request/,
    ],
    'of another issuer': [
      (idp, requestId) => buildResponse({ ...idp, entityId: 'https://other.example' }, requestId),
      /another issuer/,
    ],
    'of failure': [
      (idp, requestId) => buildResponse(idp, requestId, 'Responder'),
      /did not log the user out/,
    ],
    'with a signature that is not valid': [
      (idp, requestId) =>
        signedMessage(buildResponse(idp, requestId), idp, 'LogoutResponse').replace(
          'IssueInstant="2',
          'IssueInstant="3',
        ),
      /signature is not valid/,
    ],
  }
  for (const [title, [make, reason]] of Object.entries(rejected)) {
    test(`is reported at redirect_to: one ${title}`, async () => {
      const { app, idp, relayState, requestId } = await loggedOut()
      const fields = { SAMLResponse: base64(make(idp, requestId)), RelayState: relayState }
      const { statusCode, headers } = await postMessage(app, fields)
      const location = new URL(String(headers.location))
      assert.deepEqual([statusCode, whereTo(location)], [303, 'http://app.example/after'])
      assert.match(location.searchParams.get('error_description') ?? '', reason)
    })
  }

  test('is accepted with a signature as before', async () => {
    const { app, idp, relayState, requestId } = await loggedOut()
    const peer = await createSamlPeer(app, idp)
    const profile = { ID: requestId, issuer: '', nameID: '', nameIDFormat: '' }
    const url = await peer.getLogoutResponseUrlAsync(profile, relayState, {}, true)
    assert.equal((await visit(app, url)).headers.location, redirect_to)
  })

  test('does not revoke a session when it is sent as a request without a signature', async () => {
    const { app, idp } = await loggedOut()
    const { fragment } = await post(app, signedResponse({ idp }))
    const request = buildResponse(idp, 'x').replaceAll('LogoutResponse', 'LogoutRequest')
    const fields = { SAMLResponse: base64(request), RelayState: '' }
    assert.match(String((await postMessage(app, fields)).headers.location), /it\+is\+not\+signed/)
    assert.equal((await refresh(app, fragment.refresh_token ?? '')).statusCode, 200)
  })
})

suite('times in SAML messages', () => {
  const server = sharedServers()

  test('are in UTC without a time zone, and may have fractions and white space', async () => {
    const { app } = await server(samlOn)
    const { idp } = await addIdp(app)
    const change = (xml: string) =>
      xml.replace(
        /(\d\d:\d\d:\d\d)\.(\d+)Z"/g,
        (_, time: string, part: string) => `${time}.${part}4567 "`,
      )
    const zone = process.env.TZ
    try {
      for (const TZ of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
        process.env.TZ = TZ
        const end = new Date(Date.now() + 3_600_000)
        const xml = signedResponse({ idp, sessionEnd: end }, change)
        const { status, location, fragment } = await post(app, xml)
        assert.equal(status, 302, location.href)
        const { not_after } = await app.db
          .selectFrom('sessions')
          .select('not_after')
          .where('id', '=', sessionIn(fragment.access_token))
          .executeTakeFirstOrThrow()
        assert.equal(not_after?.getTime(), end.getTime())
      }
    } finally {
      if (zone === undefined) delete process.env.TZ
      else process.env.TZ = zone
    }
  })

  for (const text of ['never', '2026-13-01T00:00:00Z', '2026-01-01', '1767225600']) {
    test(`reject a SessionNotOnOrAfter that is no time: ${text}`, async () => {
      const { app } = await server(samlOn)
      const { idp } = await addIdp(app)
      const change = (xml: string) =>
        xml.replace('SessionIndex="s1"', `SessionIndex="s1" SessionNotOnOrAfter="${text}"`)
      const { query } = await post(app, signedResponse({ idp }, change))
      assert.match(query.error_description ?? '', /SessionNotOnOrAfter is not a time/)
    })
  }
})

function sessionIn(token = ''): string {
  const [, payload = ''] = token.split('.')
  return JSON.parse(Buffer.from(payload, 'base64url').toString()).session_id
}
