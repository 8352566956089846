/** /sso/saml/acs: forged and invalid responses. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { suite, test } from 'node:test'

import { serversOnOneDatabase } from '../../support/processes/shared-servers.ts'
import {
  buildAssertion,
  buildSamlResponse,
  createIdp,
  encrypted,
  type ResponseOptions,
  signed,
  signedResponse,
} from '../../support/saml/idp.ts'
import {
  type AcsResponse,
  addIdp,
  begin,
  type Known,
  post,
  postForm,
  samlOn,
} from '../../support/saml/server.ts'
import { type App, build } from '../../support/server.ts'

const seconds = (count: number) => new Date(Date.now() + count * 1000)

/** The NameID that the attacker claims. */
const victim = { nameId: 'admin', attributes: { mail: ['admin@corp.example'] } }

suite('POST /sso/saml/acs', () => {
  const server = serversOnOneDatabase()

  async function known(): Promise<{ app: App } & Known> {
    const { app } = await server(samlOn)
    return { app, ...(await addIdp(app)) }
  }

  /** The genuine assertion that the attacker has, and the forged one. */
  function pair(idp: Known['idp']) {
    const genuine = signed(buildAssertion({ idp }), 'Assertion', idp)
    const forged = buildAssertion({ idp, ...victim })
    const [block = ''] = /<(ds:)?Signature[\s\S]*<\/(ds:)?Signature>/.exec(genuine) ?? []
    assert.ok(block)
    return { genuine, forged, block, bare: genuine.replace(block, '') }
  }

  const withContent = (assertion: string, content: string) =>
    assertion.replace('</saml:Issuer>', `</saml:Issuer>${content}`)
  const extensions = (content: string) => `<samlp:Extensions>${content}</samlp:Extensions>`
  const object = (content: string) =>
    `<ds:Object xmlns:ds="http://www.w3.org/2000/09/xmldsig#">${content}</ds:Object>`
  const intoSignature = (block: string, content: string) =>
    block.replace(/<\/((?:ds:)?Signature)>$/, `${object(content)}</$1>`)

  /** Somorovsky et al., "On Breaking SAML": where the signed and the read element are moved to. */
  const wrappings: Record<string, (idp: Known['idp']) => string> = {
    'XSW 1: the signed response inside the signature of a forged one': (idp) => {
      const options = { idp }
      const genuine = signed(buildSamlResponse(options, buildAssertion(options)), 'Response', idp)
      const [block = ''] = /<(ds:)?Signature[\s\S]*<\/(ds:)?Signature>/.exec(genuine) ?? []
      const inner = genuine.replace(block, '')
      const forged = buildSamlResponse({ idp }, buildAssertion({ idp, ...victim }))
      return withContent(forged, intoSignature(block, inner))
    },
    'XSW 2: the signed response next to the signature of a forged one': (idp) => {
      const options = { idp }
      const genuine = signed(buildSamlResponse(options, buildAssertion(options)), 'Response', idp)
      const [block = ''] = /<(ds:)?Signature[\s\S]*<\/(ds:)?Signature>/.exec(genuine) ?? []
      const forged = buildSamlResponse({ idp }, buildAssertion({ idp, ...victim }))
      return withContent(forged, genuine.replace(block, '') + block)
    },
    'XSW 3: the forged assertion before the signed one': (idp) => {
      const { genuine, forged } = pair(idp)
      return buildSamlResponse({ idp }, forged, genuine)
    },
    'XSW 4: the signed assertion inside the forged one': (idp) => {
      const { genuine, forged } = pair(idp)
      return buildSamlResponse(
        { idp },
        forged.replace('</saml:Assertion>', `${genuine}</saml:Assertion>`),
      )
    },
    'XSW 5: the signature in the forged assertion, the signed one at the end': (idp) => {
      const { forged, block, bare } = pair(idp)
      return buildSamlResponse({ idp }, withContent(forged, block), bare)
    },
    'XSW 6: the signed assertion inside the signature of the forged one': (idp) => {
      const { forged, block, bare } = pair(idp)
      return buildSamlResponse({ idp }, withContent(forged, intoSignature(block, bare)))
    },
    'XSW 7: the forged assertion in Extensions': (idp) => {
      const { genuine, forged } = pair(idp)
      return buildSamlResponse({ idp }, extensions(forged), genuine)
    },
    'XSW 8: the signed assertion in an Object of the signature of the forged one': (idp) => {
      const { forged, block, bare } = pair(idp)
      const moved = intoSignature(block, bare)
      return buildSamlResponse(
        { idp },
        forged.replace('</saml:Assertion>', `${moved}</saml:Assertion>`),
      )
    },
  }
  for (const [title, make] of Object.entries(wrappings)) {
    test(`rejects ${title}`, async () => {
      const { app, idp } = await known()
      assertRejected(await post(app, make(idp)))
      await assertUnknown(app, idp.entityId)
    })
  }

  test('rejects a forged assertion with the id of the signed one', async () => {
    const { app, idp } = await known()
    const assertionId = '_same'
    const genuine = signed(buildAssertion({ idp, assertionId }), 'Assertion', idp)
    const forged = buildAssertion({ idp, assertionId, ...victim })
    assertRejected(await post(app, buildSamlResponse({ idp }, forged, genuine)), /same id/)
  })

  test('rejects two signed assertions', async () => {
    const { app, idp } = await known()
    const one = () => signed(buildAssertion({ idp }), 'Assertion', idp)
    assertRejected(
      await post(app, buildSamlResponse({ idp }, one(), one())),
      /more than one assertion/,
    )
  })

  test('rejects a changed NameID', async () => {
    const { app, idp } = await known()
    const xml = signedResponse({ idp }).replace('>ann<', '>admin<')
    assertRejected(await post(app, xml), /signature is not valid/)
  })

  test('rejects an unsigned response with an unsigned assertion', async () => {
    const { app, idp } = await known()
    const xml = buildSamlResponse({ idp }, buildAssertion({ idp }))
    assertRejected(await post(app, xml), /neither it nor its assertion is signed/)
  })

  test('rejects a signed response around an assertion with an invalid signature', async () => {
    const { app, idp } = await known()
    const bad = signed(buildAssertion({ idp }), 'Assertion', idp).replace('>ann<', '>admin<')
    assertRejected(await post(app, signed(buildSamlResponse({ idp }, bad), 'Response', idp)))
  })

  test('rejects an invalid response signature around a validly signed assertion', async () => {
    const { app, idp } = await known()
    const both = signed(signedResponse({ idp }), 'Response', idp)
    const xml = both.replace(/ID="_[^"]+" Version="2.0" IssueInstant="[^"]+" Destination/, (head) =>
      head.replace('Version="2.0"', 'Version="2.0" Consent="x"'),
    )
    assertRejected(await post(app, xml), /signature is not valid/)
  })

  test('rejects a signature by another key, also with its certificate in the signature', async () => {
    const { app, idp } = await known()
    const { privateKey, certificate } = createIdp()
    const stolen = { ...idp, privateKey, certificate }
    assertRejected(await post(app, signedResponse({ idp: stolen })), /signature is not valid/)
  })

  test('rejects a signature by the key of another provider', async () => {
    const { app, idp } = await known()
    const other = await addIdp(app)
    const xml = signedResponse({ idp: { ...other.idp, entityId: idp.entityId } })
    assertRejected(await post(app, xml), /signature is not valid/)
  })

  test('rejects a response of another provider than the requested one', async () => {
    const { app, id } = await known()
    const other = await addIdp(app)
    const { relayState, requestId } = await begin(app, { provider_id: id })
    assertRejected(await post(app, signedResponse({ idp: other.idp, requestId }), relayState))
  })

  test('rejects a signature with RSA-SHA1', async () => {
    const { app, idp } = await known()
    const xml = buildSamlResponse(
      { idp },
      signed(buildAssertion({ idp }), 'Assertion', idp, 'sha1'),
    )
    assertRejected(await post(app, xml), /SignatureMethod is not allowed/)
  })

  test('rejects a digest or transform that was exchanged in the signature', async () => {
    const { app, idp } = await known()
    const [digest, transform] = [
      'http://www.w3.org/2001/04/xmlenc#sha256',
      'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
    ]
    for (const [old, other] of [
      [digest, 'http://www.w3.org/2000/09/xmldsig#sha1'],
      [transform, 'http://www.w3.org/TR/1999/REC-xslt-19991116'],
    ] as const) {
      const xml = signedResponse({ idp }).replace(old, other)
      assertRejected(await post(app, xml), /signature is not valid/)
    }
  })

  test('rejects an HMAC keyed with the public certificate', async () => {
    const { app, idp } = await known()
    const hmac = 'http://www.w3.org/2000/09/xmldsig#hmac-sha1'
    const genuine = signed(buildAssertion({ idp }), 'Assertion', idp)
    const mac = createHmac('sha1', idp.certificate).update('x').digest('base64')
    const xml = genuine
      .replace('http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', hmac)
      .replace(/<SignatureValue>[^<]+/, `<SignatureValue>${mac}`)
    assertRejected(
      await post(app, buildSamlResponse({ idp }, xml)),
      /SignatureMethod is not allowed/,
    )
  })

  test('reads elements in a signature that are named like properties of every object as unknown', async () => {
    const { app, idp } = await known()
    for (const name of ['toString', 'constructor', '__proto__', 'unknown']) {
      const content = object(`<${name} Algorithm="x"/>`)
      const add = (xml: string) => xml.replace('</SignedInfo>', `</SignedInfo>${content}`)
      const landed = await post(app, add(signedResponse({ idp })))
      assert.equal(landed.status, 302, landed.location.href)
      const forged = add(signedResponse({ idp })).replace('>ann<', '>admin<')
      assertRejected(await post(app, forged), /signature is not valid/)
    }
  })

  const wrong: Record<string, [Partial<ResponseOptions>, RegExp]> = {
    'another audience': [{ audience: 'https://other.example' }, /another audience/],
    'no audience at all': [{ audience: undefined }, /another audience/],
    'another recipient': [{ recipient: 'https://other.example/acs' }, /Recipient/],
    'another destination': [{ destination: 'https://other.example/acs' }, /Destination/],
    'another issuer': [{ issuer: 'https://other.example/idp' }, /saml_idp_not_found|issuer/],
    'a response to a request that was not sent': [{ inResponseTo: 'id-unknown' }, /request/],
    'an assertion that has expired': [
      { notBefore: seconds(-600), notOnOrAfter: seconds(-200) },
      /expired/,
    ],
    'an assertion that is not valid yet': [
      { notBefore: seconds(1000), notOnOrAfter: seconds(2000) },
      /not valid yet/,
    ],
    'an assertion that was issued long ago': [{ issuedAt: seconds(-100) }, /too long ago/],
    'an assertion with a future time': [{ issuedAt: seconds(1000) }, /in the future/],
    'an expired session': [{ sessionEnd: seconds(-1) }, /session at the provider has expired/],
    'a transient NameID': [
      { nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' },
      /saml_assertion_no_user_id/,
    ],
    'no email address': [{ attributes: { color: ['blue'] } }, /saml_assertion_no_email/],
    'an invalid email address': [{ attributes: { mail: ['not an address'] } }, /no_email/],
  }
  for (const [title, [options, reason]] of Object.entries(wrong)) {
    test(`rejects ${title}`, async () => {
      const { app, idp } = await known()
      assertRejected(await post(app, signedResponse({ idp, ...options })), reason)
    })
  }

  test('rejects a signed assertion of another issuer in a response of the known issuer', async () => {
    const { app, idp } = await known()
    const issuer = 'https://other.example/idp'
    const assertion = signed(buildAssertion({ idp, issuer }), 'Assertion', idp)
    assertRejected(await post(app, buildSamlResponse({ idp }, assertion)), /it has another issuer/)
  })

  test('rejects a RelayState that is an open redirect', async () => {
    const { app } = await known()
    for (const relayState of [
      'https://evil.example/',
      '//evil.example/',
      '/\\evil.example',
      'javascript:alert(1)',
      'http://app.example@evil.example/',
      'http://app.example.evil.example/',
    ]) {
      const { idp } = await addIdp(app)
      const redirect = await post(app, signedResponse({ idp }), relayState)
      assert.deepEqual([redirect.status, redirect.location.origin], [302, 'http://app.example'])
    }
  })

  test('rejects a response without InResponseTo after a request', async () => {
    const { app, idp, id } = await known()
    const { relayState } = await begin(app, { provider_id: id })
    assertRejected(await post(app, signedResponse({ idp }), relayState), /request/)
  })

  test('rejects a response to the request of another user', async () => {
    const { app, idp, id } = await known()
    const [mine, theirs] = [
      await begin(app, { provider_id: id }),
      await begin(app, { provider_id: id }),
    ]
    const xml = signedResponse({ idp, requestId: theirs.requestId })
    assertRejected(await post(app, xml, mine.relayState), /request/)
  })

  test('rejects a response without its RelayState', async () => {
    const { app, idp, id } = await known()
    const { requestId } = await begin(app, { provider_id: id })
    assertRejected(await post(app, signedResponse({ idp, requestId })), /request/)
  })

  test('rejects a response that is posted again', async () => {
    const { app, idp, id } = await known()
    const { relayState, requestId } = await begin(app, { provider_id: id })
    const xml = signedResponse({ idp, requestId })
    assert.equal((await post(app, xml, relayState)).status, 302)
    assertRejected(await post(app, xml, relayState), /saml_relay_state_not_found/)
    const unsolicited = signedResponse({ idp })
    assert.equal((await post(app, unsolicited)).status, 302)
    assertRejected(await post(app, unsolicited), /already used/)
  })

  test('rejects an assertion replayed in another response', async () => {
    const { app, idp } = await known()
    const assertion = signed(buildAssertion({ idp }), 'Assertion', idp)
    assert.equal((await post(app, buildSamlResponse({ idp }, assertion))).status, 302)
    assertRejected(await post(app, buildSamlResponse({ idp }, assertion)), /already used/)
  })

  test('rejects all but one of several concurrent posts of one assertion', async () => {
    const { app, idp } = await known()
    const xml = signedResponse({ idp })
    const redirects = await Promise.all(Array.from({ length: 5 }, () => post(app, xml)))
    assert.deepEqual(redirects.map(({ status }) => status).toSorted(), [302, 303, 303, 303, 303])
  })

  test('rejects an unknown and an expired RelayState', async () => {
    const { app, idp, id } = await known()
    const unknown = await post(app, signedResponse({ idp }), crypto.randomUUID())
    assertRejected(unknown, /saml_relay_state_not_found/)
    const { relayState, requestId } = await begin(app, { provider_id: id })
    await app.db
      .updateTable('saml_relay_states')
      .set({ created_at: seconds(-130) })
      .where('id', '=', relayState)
      .execute()
    const late = await post(app, signedResponse({ idp, requestId }), relayState)
    assertRejected(late, /saml_relay_state_expired/)
  })

  test('rejects a RelayState whose first response was invalid', async () => {
    const { app, idp, id } = await known()
    const { relayState, requestId } = await begin(app, { provider_id: id })
    assertRejected(
      await post(app, buildSamlResponse({ idp, requestId }, buildAssertion({ idp })), relayState),
    )
    const good = await post(app, signedResponse({ idp, requestId }), relayState)
    assertRejected(good, /saml_relay_state_not_found/)
  })

  test('rejects a disabled and an unknown provider', async () => {
    const { app } = await server(samlOn)
    const { idp } = await addIdp(app, { disabled: true })
    assertRejected(await post(app, signedResponse({ idp })), /sso_provider_disabled/)
    assertRejected(await post(app, signedResponse({ idp: createIdp() })), /saml_idp_not_found/)
  })

  test('rejects encrypted assertions when disabled, and encrypted content that is unsigned, foreign or no assertion', async () => {
    const { app, idp } = await known()
    const inner = await encrypted(buildAssertion({ idp }), { certificate: idp.certificate })
    assertRejected(await post(app, buildSamlResponse({ idp }, inner)), /not accepted/)
    const on = await server({ ...samlOn, AUTH_SAML_ALLOW_ENCRYPTED_ASSERTIONS: 'true' })
    const other = await addIdp(on.app)
    const metadata = (await on.app.inject('/sso/saml/metadata')).body
    const certificate = /use="encryption".*?<X509Certificate>([^<]+)/.exec(metadata)?.[1] ?? ''
    const unsigned = await encrypted(buildAssertion({ idp: other.idp }), { certificate })
    const forOthers = await encrypted(buildAssertion({ idp: other.idp }), other.idp)
    const noXml = await encrypted('no XML', { certificate })
    const another = await encrypted('<a/>', { certificate })
    for (const content of [unsigned, forOthers, noXml, another]) {
      const redirect = await post(on.app, buildSamlResponse({ idp: other.idp }, content))
      assertRejected(redirect, /its encrypted assertion cannot be used$/)
    }
  })

  const documents: Record<string, [(xml: string) => string, RegExp]> = {
    'an internal entity': [
      (xml) => `<!DOCTYPE r [<!ENTITY e "admin">]>${xml.replace('>ann<', '>&e;<')}`,
      /document type/,
    ],
    'entity expansion': [
      (xml) => `<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>${xml}`,
      /document type/,
    ],
    'an external entity': [
      (xml) => `<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>${xml}`,
      /document type/,
    ],
    'a DTD alone': [
      (xml) => `<!DOCTYPE Response SYSTEM "http://evil.example/x.dtd">${xml}`,
      /document type/,
    ],
    'a comment in a NameID': [
      (xml) => xml.replace('>ann<', '>ann@corp.example<!-- x -->.evil.example<'),
      /has a comment/,
    ],
    'a processing instruction': [(xml) => `<?xml-stylesheet href="x"?>${xml}`, /processing/],
    'two roots': [(xml) => `${xml}${xml}`, /./],
    'an undefined entity': [(xml) => xml.replace('>ann<', '>&e;<'), /well-formed/],
    'markup that does not close': [(xml) => xml.replace('</saml:Assertion>', ''), /well-formed/],
    'too many levels': [
      (xml) =>
        xml.replace('<samlp:Status>', `${'<x>'.repeat(70)}${'</x>'.repeat(70)}<samlp:Status>`),
      /64 levels/,
    ],
    nothing: [() => ' ', /./],
    'no Response': [
      () => '<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"/>',
      /not a SAML 2.0 Response/,
    ],
  }
  for (const [title, [change, reason]] of Object.entries(documents)) {
    test(`rejects a document with ${title}`, async () => {
      const { app, idp } = await known()
      assertRejected(await post(app, change(signedResponse({ idp }))), reason)
    })
  }

  test('rejects a value that is empty, an artifact, or neither base64 nor UTF-8', async () => {
    const { app } = await known()
    const latin1 = Buffer.from('<a>\xff</a>', 'latin1').toString('base64')
    for (const form of [
      { SAMLResponse: '%%%' },
      { SAMLResponse: latin1 },
      { SAMLResponse: '' },
      { SAMLart: 'AAQAAA' },
      { RelayState: '/x' },
    ]) {
      assertRejected(await postForm(app, form), /validation_failed/)
    }
  })

  test('reads the whole text of a NameID with a CDATA section', async () => {
    const { app, idp, id } = await known()
    const options = { idp, nameId: 'admin@corp.example<![CDATA[.evil]]>.example' }
    const redirect = await post(app, signedResponse(options))
    assert.equal(redirect.status, 302, redirect.location.href)
    const row = await app.db
      .selectFrom('identities')
      .select('provider_id')
      .where('provider', '=', `sso:${id}`)
      .executeTakeFirstOrThrow()
    assert.equal(row.provider_id, 'admin@corp.example.evil.example')
  })

  test('writes no content of a rejected document to the log or the redirect', async (t) => {
    const lines: string[] = []
    const { app } = await build(t, { env: samlOn, lines })
    const { idp } = await addIdp(app)
    const canary = 'canary-in-the-document'
    const xml = buildSamlResponse({ idp }, buildAssertion({ idp, nameId: canary }))
    const redirect = await post(app, xml)
    assert.ok(!decodeURIComponent(redirect.location.href).includes(canary))
    assert.ok(!lines.join('').includes(canary))
    assert.match(lines.join(''), /SAML message rejected/)
  })
})

function assertRejected({ status, location, query }: AcsResponse, reason = /./): void {
  assert.equal(status, 303, location.href)
  assert.deepEqual([location.origin, location.hash], ['http://app.example', ''])
  assert.ok(query.error && query.error_code)
  assert.match(`${query.error_code} ${query.error_description}`, reason)
}

/** No user was created with the NameID that the attacker claims. */
async function assertUnknown(app: App, issuer: string): Promise<void> {
  const rows = await app.db.selectFrom('identities').select('identity_data').execute()
  const ours = rows.filter(({ identity_data }) => identity_data.iss === issuer)
  assert.deepEqual(ours, [])
}
