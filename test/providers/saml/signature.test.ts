/** XML signatures: accepted and rejected as by the library that other service providers use. */
import assert from 'node:assert/strict'
import { createHash, createSign } from 'node:crypto'
import { suite, test } from 'node:test'

import { getVerifiedXml } from '@node-saml/node-saml/lib/xml.js'
import { SignedXml } from 'xml-crypto'

import { messageLimits } from '../../../providers/saml/markup.ts'
import { toPem, verifiedContent } from '../../../providers/saml/signature.ts'
import { parseXml } from '../../../providers/saml/xml.ts'
import { createIdp } from '../../support/saml/idp.ts'

const idp = createIdp()
const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const dsigMore = 'http://www.w3.org/2001/04/xmldsig-more#'

interface Signing {
  prefix?: string
  inclusive?: string[]
  method?: string
  digest?: string
  canonicalization?: string
}

function sign(xml: string, options: Signing = {}): string {
  const { method = `${dsigMore}rsa-sha256`, inclusive = [], prefix } = options
  const signature = new SignedXml({
    privateKey: idp.privateKey.export({ type: 'pkcs8', format: 'pem' }),
    publicCert: toPem(idp.certificate),
    signatureAlgorithm: method,
    canonicalizationAlgorithm: options.canonicalization ?? exclusive,
  })
  signature.addReference({
    xpath: "//*[@ID='a']",
    transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', exclusive],
    digestAlgorithm: options.digest ?? 'http://www.w3.org/2001/04/xmlenc#sha256',
    inclusiveNamespacesPrefixList: inclusive,
  })
  const location = { reference: "//*[@ID='a']/*[1]", action: 'after' } as const
  signature.computeSignature(xml, { location, ...(prefix && { prefix }) })
  return signature.getSignedXml()
}

/** A signature of this canonical text, made without a library: the one above shares its canonicalization with the server. */
function signCanonical(content: string, prefixes: string): string {
  const dsig = 'http://www.w3.org/2000/09/xmldsig#'
  const list = `<InclusiveNamespaces xmlns="${exclusive}" PrefixList="${prefixes}"></InclusiveNamespaces>`
  const digest = createHash('sha256').update(content).digest('base64')
  const info = `<SignedInfo xmlns="${dsig}"><CanonicalizationMethod Algorithm="${exclusive}"></CanonicalizationMethod><SignatureMethod Algorithm="${dsigMore}rsa-sha256"></SignatureMethod><Reference URI="#a"><Transforms><Transform Algorithm="${dsig}enveloped-signature"></Transform><Transform Algorithm="${exclusive}">${list}</Transform></Transforms><DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></DigestMethod><DigestValue>${digest}</DigestValue></Reference></SignedInfo>`
  const value = createSign('sha256').update(info).sign(idp.privateKey, 'base64')
  return `<Signature xmlns="${dsig}">${info}<SignatureValue>${value}</SignatureValue></Signature>`
}

/** The content that the signature of the element with the id `a` covers; undefined when it is rejected. */
async function verifyHere(xml: string): Promise<string | undefined> {
  try {
    const { elements } = await parseXml(Buffer.from(xml), messageLimits)
    const element = elements.find((each) => each.getAttribute('ID') === 'a')
    const content = element && (await verifiedContent(element, [idp.certificate]))
    return content && String(content)
  } catch {
    return undefined
  }
}

async function verifyByLibrary(xml: string): Promise<string | undefined> {
  try {
    const { elements } = await parseXml(Buffer.from(xml), messageLimits)
    const element = elements.find((each) => each.getAttribute('ID') === 'a')
    const content = getVerifiedXml(xml, element, [toPem(idp.certificate)])
    return content === null
      ? undefined
      : String((await parseXml(Buffer.from(content), messageLimits)).root)
  } catch {
    return undefined
  }
}

const shapes: Record<string, [xml: string, options?: Signing]> = {
  'prefixes that are declared outside': [
    '<r:R xmlns:r="urn:r" xmlns:s="urn:s" xmlns="urn:d"><s:A ID="a"><s:I/><B s:c="1"/></s:A></r:R>',
  ],
  'inclusive namespaces': [
    '<R xmlns:xs="urn:xs" xmlns:t="urn:t"><A ID="a" xmlns="urn:a"><I/><V t:type="xs:string">x</V></A></R>',
    { inclusive: ['xs'], prefix: 'ds' },
  ],
  'inclusive namespaces that are not declared': [
    '<R><A ID="a"><I/><V>x</V></A></R>',
    { inclusive: ['xs', 'saml'] },
  ],
  'a default namespace that is declared and undeclared': [
    '<R xmlns="urn:r"><A ID="a"><I/><B xmlns=""><C xmlns="urn:c"/></B></A></R>',
  ],
  'prefixes that are bound again': [
    '<p:R xmlns:p="urn:1"><p:A ID="a"><p:I/><p:B xmlns:p="urn:2"><p:C/></p:B></p:A></p:R>',
  ],
  'white space, entities and both kinds of quotes': [
    `<R>\n  <A ID='a' b="&lt;&quot;'&amp;" c='"&gt;'>\n    <I/>&#xD;&gt;&amp; x\ty\n  </A>\n</R>`,
  ],
  'CDATA and text around it': ['<R><A ID="a"><I/>x<![CDATA[<&>]]>y</A></R>'],
  'attributes in any order': [
    '<R xmlns:b="urn:a" xmlns:a="urn:b"><A a:z="1" b:y="2" z="3" ID="a" b="4"><I/></A></R>',
  ],
  'xml:lang and characters beyond the first plane': [
    '<R><A ID="a" xml:lang="de"><I/>ä𝒳\u2003</A></R>',
  ],
  'RSA-SHA512': [
    '<A ID="a"><I/></A>',
    { method: `${dsigMore}rsa-sha512`, digest: 'http://www.w3.org/2001/04/xmlenc#sha512' },
  ],
  'canonicalization with comments': [
    '<A ID="a"><I/></A>',
    { canonicalization: `${exclusive}WithComments` },
  ],
}

suite('signatures of identity providers', () => {
  for (const [title, [xml, options]] of Object.entries(shapes)) {
    test(`are verified with ${title}`, async () => {
      const signed = sign(xml, options)
      const content = await verifyHere(signed)
      assert.ok(content)
      assert.equal(content, await verifyByLibrary(signed))
      assert.ok(!content.includes('SignatureValue'))
    })

    test(`are rejected after a change with ${title}`, async () => {
      const signed = sign(xml, options)
      for (const [at, character] of [...signed].entries()) {
        if (at % 23 !== 0 || /\s/.test(character)) continue
        const changed = `${signed.slice(0, at)}${character === 'x' ? 'z' : 'x'}${signed.slice(at + 1)}`
        const content = await verifyHere(changed)
        if (content === undefined) continue
        // KeyInfo is not signed and not read.
        assert.equal(content, await verifyHere(signed), changed)
      }
    })
  }

  test('are verified with inclusive namespaces that the element declares again', async () => {
    const content = '<s:A xmlns:s="urn:s" xmlns:xs="urn:own" ID="a">x</s:A>'
    const signature = signCanonical(content, 'xs')
    const xml = `<R xmlns:s="urn:s" xmlns:xs="urn:outer"><s:A xmlns:xs="urn:own" ID="a">${signature}x</s:A></R>`
    assert.equal(await verifyHere(xml), content)
  })

  test('name the default namespace among the inclusive ones and what to set', async () => {
    const content = '<s:A xmlns="urn:d" xmlns:s="urn:s" ID="a">x</s:A>'
    const signature = signCanonical(content, '#default')
    const xml = `<R xmlns="urn:d" xmlns:s="urn:s"><s:A ID="a">${signature}x</s:A></R>`
    const { elements } = await parseXml(Buffer.from(xml), messageLimits)
    const element = elements.find((each) => each.getAttribute('ID') === 'a') ?? assert.fail()
    await assert.rejects(
      verifiedContent(element, [idp.certificate]),
      /InclusiveNamespaces has #default, which is not supported\. Have the identity provider/,
    )
  })

  const refused: Record<string, [Signing, RegExp]> = {
    'RSA-SHA1': [
      { method: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' },
      /SignatureMethod is not allowed: it is RSA-SHA1\. Have the identity provider sign with RSA-SHA256/,
    ],
    'a SHA-1 digest': [
      { digest: 'http://www.w3.org/2000/09/xmldsig#sha1' },
      /DigestMethod is not allowed: it is SHA-1\. Have the identity provider sign with/,
    ],
    'RSA-PSS': [
      { method: 'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1' },
      /SignatureMethod is not allowed: it is RSA-PSS/,
    ],
    'inclusive canonicalization': [
      { canonicalization: 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315' },
      /CanonicalizationMethod is not allowed: it is inclusive canonicalization\. Have the/,
    ],
  }
  for (const [title, [options, reason]] of Object.entries(refused)) {
    test(`name ${title} and what to set`, async () => {
      const { root } = await parseXml(
        Buffer.from(sign('<A ID="a"><I/></A>', options)),
        messageLimits,
      )
      await assert.rejects(verifiedContent(root, [idp.certificate]), reason)
    })
  }
})
