/** Single sign-on by SAML: from POST /sso to the identity provider and back to /sso/saml/acs. */
import assert from 'node:assert/strict'
import {
  createHash,
  createPublicKey,
  verify as verifySignature,
  X509Certificate,
} from 'node:crypto'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import { toPem } from '../../../providers/saml/signature.ts'
import { serversOnOneDatabase } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import {
  buildAssertion,
  buildIdpMetadata,
  buildSamlResponse,
  createIdp,
  createIdpCertificate,
  encrypted,
  signed,
  signedResponse,
} from '../../support/saml/idp.ts'
import { addIdp, ask, begin, nextSpKey, post, samlOn } from '../../support/saml/server.ts'
import { bodyOf200 } from '../../support/users.ts'

const algorithms = [
  'http://www.w3.org/2001/04/xmlenc#aes256-cbc',
  'http://www.w3.org/2009/xmlenc11#aes256-gcm',
] as const
const emailFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'

suite('POST /sso and /sso/saml/acs', () => {
  const server = serversOnOneDatabase()

  test('signs a new user in with the session in the fragment', async () => {
    const { app } = await server(samlOn)
    const { idp, id } = await addIdp(app)
    const { relayState, requestId } = await begin(app, { provider_id: id })
    const sessionEnd = new Date(Date.now() + 3_600_000)
    const redirect = await post(app, signedResponse({ idp, requestId, sessionEnd }), relayState)
    assert.equal(redirect.status, 302)
    assert.equal(redirect.location.origin, 'http://app.example')
    const { access_token = '', refresh_token, token_type } = redirect.fragment
    assert.ok(refresh_token && token_type === 'bearer')
    const claims = decodeJwt(access_token)
    assert.deepEqual(claims.app_metadata, { provider: `sso:${id}`, providers: [`sso:${id}`] })
    assert.deepEqual(
      [claims.amr].flat().map((entry) => ({ ...Object(entry), timestamp: 0 })),
      [{ method: 'sso/saml', timestamp: 0, provider: id }],
    )
    const headers = { authorization: `Bearer ${access_token}` }
    const user = (await app.inject({ url: '/user', headers })).json()
    assert.equal(user.email, 'ann@corp.example')
    assert.ok(user.email_confirmed_at)
    assert.deepEqual(user.identities[0].identity_data, {
      iss: idp.entityId,
      sub: 'ann',
      email: 'ann@corp.example',
      email_verified: true,
      phone_verified: false,
    })
    const session = await app.db
      .selectFrom('sessions')
      .select('not_after')
      .where('user_id', '=', user.id)
      .executeTakeFirstOrThrow()
    assert.equal(session.not_after?.getTime(), sessionEnd.getTime())
    const change = await call(
      app,
      '/user',
      { password: 'another password' },
      { method: 'PUT', token: access_token },
    )
    assert.deepEqual(statusAndCode(change), [422, 'user_sso_managed'])
  })

  test('returns a code to a PKCE client, and a session that expires with that of the provider', async () => {
    const { app } = await server(samlOn)
    const { idp, id } = await addIdp(app)
    const verifier = 'v'.repeat(50)
    const pkce = {
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 's256',
    }
    const redirect_to = 'http://app.example/welcome?from=sso'
    const { relayState, requestId } = await begin(app, { provider_id: id, redirect_to, ...pkce })
    const sessionEnd = new Date(Date.now() + 3_600_000)
    const redirect = await post(app, signedResponse({ idp, requestId, sessionEnd }), relayState)
    const { code: auth_code = '', from } = redirect.query
    assert.deepEqual([redirect.location.pathname, from], ['/welcome', 'sso'])
    const exchange = await call(app, '/token?grant_type=pkce', {
      auth_code,
      code_verifier: verifier,
    })
    const { user } = bodyOf200<{ user: { id: string } }>(exchange)
    const sessions = await app.db
      .selectFrom('sessions')
      .select('not_after')
      .where('user_id', '=', user.id)
      .execute()
    assert.deepEqual(
      sessions.map(({ not_after }) => not_after?.getTime()),
      [sessionEnd.getTime()],
    )
  })

  test('sends a signed AuthnRequest with RSA-SHA256', async () => {
    const { app } = await server(samlOn)
    const { idp, id } = await addIdp(app)
    const { url, request } = await begin(app, { provider_id: id })
    assert.ok(url.href.startsWith(`${idp.entityId}/sso?tenant=1&`))
    assert.equal(
      url.searchParams.get('SigAlg'),
      'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    )
    const text = /SAMLRequest=.*?&SigAlg=[^&]+/.exec(url.search)?.[0] ?? ''
    const metadata = (await app.inject('/sso/saml/metadata')).body
    const certificate = /<X509Certificate>([^<]+)/.exec(metadata)?.[1] ?? ''
    const { publicKey } = new X509Certificate(toPem(certificate))
    const signature = Buffer.from(url.searchParams.get('Signature') ?? '', 'base64')
    assert.ok(
      verifySignature(
        'sha256',
        Buffer.from(text),
        createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })),
        signature,
      ),
    )
    for (const part of [
      'AssertionConsumerServiceURL="http://auth.example/sso/saml/acs"',
      'ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"',
      'nameid-format:persistent',
      'AllowCreate="true"',
      '>http://auth.example/sso/saml/metadata<',
    ]) {
      assert.ok(request.includes(part), `${part}: ${request}`)
    }
    assert.ok(!/RequestedAuthnContext|ForceAuthn/.test(request))
  })

  test('finds the provider by domain in any case, and redirects without skip_http_redirect', async () => {
    const { app } = await server(samlOn)
    const domain = `${crypto.randomUUID()}.example`
    const { idp } = await addIdp(app, { domains: [domain.toUpperCase()] })
    const response = await call(app, '/sso', { domain: domain.replace('e', 'E') })
    assert.equal(response.statusCode, 303)
    assert.ok(String(response.headers.location).startsWith(idp.entityId))
  })

  test('accepts an unsolicited response with a path or a URL as RelayState', async () => {
    const { app } = await server(samlOn)
    for (const [relayState, target] of [
      ['', 'http://app.example'],
      ['/inbox', 'http://app.example/inbox'],
      ['https://app.example/deep', 'https://app.example/deep'],
      ['https://evil.example/', 'http://app.example'],
      ['//evil.example/', 'http://app.example'],
      ['javascript:alert(1)', 'http://app.example'],
    ] as const) {
      const { idp } = await addIdp(app)
      const redirect = await post(app, signedResponse({ idp }), relayState)
      assert.equal(redirect.status, 302, relayState)
      assert.ok(redirect.fragment.access_token)
      assert.equal(new URL('#', redirect.location).href, new URL('#', target).href, relayState)
    }
  })

  test('redirects to the site URL when redirect_to is not allowed', async () => {
    const { app } = await server(samlOn)
    const { idp, id } = await addIdp(app)
    const redirect_to = 'https://evil.example/'
    const { relayState, requestId } = await begin(app, { provider_id: id, redirect_to })
    const redirect = await post(app, signedResponse({ idp, requestId }), relayState)
    assert.equal(redirect.location.host, 'app.example')
  })

  test('accepts a signed response with an unsigned assertion, and both signed', async () => {
    const { app } = await server(samlOn)
    const { idp } = await addIdp(app)
    const options = { idp }
    const outer = signed(buildSamlResponse(options, buildAssertion(options)), 'Response', idp)
    const both = signed(signedResponse(options), 'Response', idp, 'sha512')
    for (const xml of [outer, both]) assert.equal((await post(app, xml)).status, 302)
  })

  test('accepts assertions encrypted for the current or the next key', async () => {
    const keys = {
      AUTH_SAML_PRIVATE_KEY_NEXT: nextSpKey,
      AUTH_SAML_ALLOW_ENCRYPTED_ASSERTIONS: 'true',
    }
    const { app } = await server({ ...samlOn, ...keys })
    const { idp } = await addIdp(app)
    const metadata = (await app.inject('/sso/saml/metadata')).body
    const offered = [...metadata.matchAll(/use="encryption".*?<X509Certificate>([^<]+)/g)]
    assert.equal(offered.length, 2)
    for (const [, certificate = ''] of offered) {
      for (const encryptionAlgorithm of algorithms) {
        const assertion = signed(buildAssertion({ idp }), 'Assertion', idp)
        const more = { encryptionAlgorithm }
        const inner = await encrypted(assertion, { certificate, ...more })
        const redirect = await post(app, buildSamlResponse({ idp }, inner))
        assert.equal(redirect.status, 302, redirect.location.href)
        const unsigned = await encrypted(buildAssertion({ idp }), { certificate, ...more })
        const outer = signed(buildSamlResponse({ idp }, unsigned), 'Response', idp)
        assert.equal((await post(app, outer)).status, 302)
      }
    }
  })

  test('verifies with each certificate of the metadata, and with new ones after a change', async () => {
    const { app } = await server(samlOn)
    const [idp, next] = [createIdp(), createIdp()]
    const both = buildIdpMetadata(idp.entityId, [idp.certificate, next.certificate])
    const { id } = await addIdp(app, {}, { ...idp, metadata: both })
    const later = { ...idp, privateKey: next.privateKey, certificate: next.certificate }
    assert.equal((await post(app, signedResponse({ idp }))).status, 302)
    assert.equal((await post(app, signedResponse({ idp: later }))).status, 302)
    const metadata_xml = buildIdpMetadata(idp.entityId, [createIdpCertificate(next.privateKey)])
    assert.equal((await ask(app, 'PUT', `/${id}`, { metadata_xml })).statusCode, 200)
    assert.equal((await post(app, signedResponse({ idp: later }))).status, 302)
    const old = await post(app, signedResponse({ idp }))
    assert.match(old.query.error_description ?? '', /signature is not valid/)
  })

  test('maps attributes to claims by case-insensitive name, except claims that the server sets', async () => {
    const { app } = await server(samlOn)
    const keys = {
      full_name: { names: ['missing', 'DISPLAYNAME'] },
      groups: { name: 'groups', array: true },
      role: { name: 'role' },
      locale: { name: 'none', default: 'de' },
      sub: { name: 'displayName' },
    }
    const { idp, id } = await addIdp(app, { attribute_mapping: { keys } })
    const attributes = {
      displayName: ['Ann Lee'],
      groups: ['a', 'b'],
      role: ['service_role'],
      'urn:oasis:names:tc:SAML:attribute:subject-id': ['ann-1@corp.example'],
      'urn:oid:0.9.2342.19200300.100.1.3': ['Ann.Lee@CORP.example'],
    }
    assert.equal((await post(app, signedResponse({ idp, attributes }))).status, 302)
    const row = await app.db
      .selectFrom('identities')
      .innerJoin('users', 'users.id', 'identities.user_id')
      .select(['provider_id', 'identity_data', 'users.role', 'users.email'])
      .where('provider', '=', `sso:${id}`)
      .executeTakeFirstOrThrow()
    assert.deepEqual(
      [row.provider_id, row.role, row.email],
      ['ann-1@corp.example', 'authenticated', 'ann.lee@corp.example'],
    )
    const { full_name, locale, custom_claims, sub } = row.identity_data
    assert.deepEqual(
      { full_name, locale, custom_claims, sub },
      {
        full_name: 'Ann Lee',
        locale: 'de',
        custom_claims: { groups: ['a', 'b'], role: 'service_role' },
        sub: 'ann-1@corp.example',
      },
    )
  })

  test('converts an email NameID to lower case and recognizes the user', async () => {
    const { app } = await server(samlOn)
    const { idp, id } = await addIdp(app)
    const options = { idp, nameIdFormat: emailFormat, attributes: {} }
    const subjects = []
    for (const nameId of [' Ann@Corp.Example ', 'ann@corp.example']) {
      const redirect = await post(app, signedResponse({ ...options, nameId }))
      subjects.push(decodeJwt(redirect.fragment.access_token ?? '').sub)
    }
    assert.equal(subjects[0], subjects[1])
    const count = await app.db
      .selectFrom('identities')
      .select('id')
      .where('provider', '=', `sso:${id}`)
      .execute()
    assert.equal(count.length, 1)
  })

  test('does not link to an account with the same email', async () => {
    const { app } = await server({ ...samlOn, AUTH_MAILER_AUTOCONFIRM: 'true' })
    const email = `${crypto.randomUUID()}@corp.example`
    const own = bodyOf200<{ user: { id: string } }>(
      await call(app, '/signup', { email, password: 'correct horse' }),
    )
    const { idp } = await addIdp(app)
    const redirect = await post(app, signedResponse({ idp, attributes: { mail: [email] } }))
    assert.notEqual(decodeJwt(redirect.fragment.access_token ?? '').sub, own.user.id)
  })

  test('records the sign-in with the provider in the audit log', async () => {
    const { app } = await server(samlOn)
    const { idp, id } = await addIdp(app)
    await post(app, signedResponse({ idp }))
    await post(app, signedResponse({ idp }))
    const rows = await app.db.selectFrom('audit_log_entries').select('payload').execute()
    const ours = rows
      .map(({ payload }) => Object(payload))
      .filter(({ traits }) => traits?.provider === `sso:${id}` && !traits.user_agent)
    assert.deepEqual(ours.map(({ action, actor_via_sso }) => [action, actor_via_sso]).toSorted(), [
      ['login', true],
      ['user_signedup', true],
    ])
  })
})
