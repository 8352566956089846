/** XML that takes a parser long: it is rejected in one pass, before it is parsed. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { parseXml } from '../../../providers/saml/xml.ts'

const list = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => make(index)).join(' ')

/** Each takes the parsers seconds to hours. */
const documents: Record<string, [xml: string, reason: RegExp]> = {
  'comments that do not end': [`<a>${'<!--'.repeat(250_000)}`, /well-formed/],
  'CDATA sections that do not end': [`<a>${'<![CDATA['.repeat(110_000)}`, /well-formed/],
  'tags that do not end': [`<a>${'<a'.repeat(500_000)}`, /well-formed/],
  'quotes that do not end': [`<a ${`"b"'`.repeat(250_000)}`, /well-formed/],
  'many attributes of one element': [`<a ${list(60_000, (at) => `a${at}="b"`)}/>`, /attributes/],
  'many namespaces in scope of many elements': [
    `<a ${list(20_000, (at) => `xmlns:a${at}="b"`)}>${'<a xmlns:b="c"/>'.repeat(20_000)}</a>`,
    /attributes/,
  ],
  'many elements': [`<a>${'<a/>'.repeat(250_000)}</a>`, /too many elements/],
  'many levels': [`${'<a>'.repeat(130_000)}${'</a>'.repeat(130_000)}`, /64 levels/],
  'many levels after an attribute that looks like the end of a tag': [
    `${'<a b="/>">'.repeat(65)}${'</a>'.repeat(65)}`,
    /64 levels/,
  ],
}

suite('XML of unauthenticated clients', () => {
  for (const [title, [xml, reason]] of Object.entries(documents)) {
    test(`rejects ${title}`, async () => {
      await assert.rejects(parseXml(Buffer.from(xml)), { name: 'SamlError', message: reason })
    })
  }

  test('accepts comments, CDATA, quotes of both kinds and an XML declaration', async () => {
    const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<a b='"' c="'>"><!-- <b> --><![CDATA[<b>]]></a>`
    const { elements, root } = await parseXml(Buffer.from(xml))
    assert.deepEqual([elements.length, root.textContent], [1, '<b>'])
  })
})
