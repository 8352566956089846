/** XML that takes a parser long: it is rejected in one pass, before it is parsed. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { descriptorLimits, messageLimits } from '../../../providers/saml/markup.ts'
import { parseXml } from '../../../providers/saml/xml.ts'

const list = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => make(index)).join(' ')

/** Each takes the parsers seconds to hours, or is larger than any of an identity provider. */
const documents: Record<string, [xml: string, reason: RegExp]> = {
  'comments that do not end': [`<a>${'<!--'.repeat(60_000)}`, /well-formed/],
  'CDATA sections that do not end': [`<a>${'<![CDATA['.repeat(25_000)}`, /well-formed/],
  'tags that do not end': [`<a>${'<a'.repeat(120_000)}`, /well-formed/],
  'quotes that do not end': [`<a ${`"b"'`.repeat(60_000)}`, /well-formed/],
  'many attributes of one element': [`<a ${list(20_000, (at) => `a${at}="b"`)}/>`, /attributes/],
  'many namespaces in scope of many elements': [
    `<a ${list(5_000, (at) => `xmlns:a${at}="b"`)}>${'<a xmlns:b="c"/>'.repeat(5_000)}</a>`,
    /attributes/,
  ],
  'many elements': [`<a>${'<a/>'.repeat(60_000)}</a>`, /more than 10000 elements and texts/],
  'many levels': [`${'<a>'.repeat(30_000)}${'</a>'.repeat(30_000)}`, /64 levels/],
  'many levels after an attribute that looks like the end of a tag': [
    `${'<a b="/>">'.repeat(65)}${'</a>'.repeat(65)}`,
    /64 levels/,
  ],
}

/** Within the limits of metadata. */
const messages: Record<string, [xml: string, reason: RegExp]> = {
  'a comment': ['<a>x<!-- y --></a>', /has a comment/],
  'more than 64 KB': [
    `<a>${'x'.repeat(65_536)}</a>`,
    /longer than 65536 bytes\. Have the identity/,
  ],
  'more than 1000 elements': [
    `<a>${'<a/>'.repeat(1_000)}</a>`,
    /more than 1000 elements and texts\. Have the identity provider send fewer groups/,
  ],
  'more than 1000 elements and texts': [`<a>${'x<a/>'.repeat(500)}</a>`, /elements and texts/],
  'more than 1000 CDATA sections': [`<a>${'<![CDATA[]]>'.repeat(1_001)}</a>`, /elements and texts/],
  'more than 2000 attributes': [
    `<a>${`<a ${list(30, (at) => `a${at}=""`)}/>`.repeat(70)}</a>`,
    /2000/,
  ],
  'more than 64 namespaces in scope': [
    `${list(65, (at) => `<a xmlns:n${at}="x">`)}${'</a>'.repeat(65)}`,
    /too many namespaces|64 levels/,
  ],
  'a long namespace': [`<a xmlns="${'x'.repeat(257)}"/>`, /namespace has more than 256/],
}

suite('XML of unauthenticated clients', () => {
  for (const [title, [xml, reason]] of Object.entries(documents)) {
    test(`rejects ${title}`, async () => {
      await assert.rejects(parseXml(Buffer.from(xml), descriptorLimits), {
        name: 'SamlError',
        message: reason,
      })
    })
  }

  for (const [title, [xml, reason]] of Object.entries(messages)) {
    test(`rejects ${title} in a message`, async () => {
      const parsed = parseXml(Buffer.from(xml), messageLimits)
      await assert.rejects(parsed, { name: 'SamlError', message: reason })
    })
  }

  test('counts a namespace until its element ends', async () => {
    const xml = `<a>${'<a xmlns:n="x"></a>'.repeat(100)}</a>`
    assert.equal((await parseXml(Buffer.from(xml), messageLimits)).elements.length, 101)
  })

  test('accepts comments in metadata, CDATA, quotes of both kinds and an XML declaration', async () => {
    const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<a b='"' c="'>"><!-- <b> --><![CDATA[<b>]]></a>`
    const { elements, root } = await parseXml(Buffer.from(xml), descriptorLimits)
    assert.deepEqual([elements.length, root.textContent], [1, '<b>'])
  })
})
