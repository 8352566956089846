/** The texts of the hosted pages and of the account page in all languages of the mails. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { shippedLanguages } from '../../mail/languages/shipped.ts'
import { getAccountTexts } from '../../ui/account/texts.ts'
import { getTexts } from '../../ui/texts.ts'

type Texts = Record<string, string>

interface Kind {
  name: string
  folder: string
  /** A text as the pages show it. */
  used: [key: string, getText: (tag: string) => string]
  /** Words that are the same in English. */
  shared: Record<string, readonly string[]>
}

const kinds: Kind[] = [
  {
    name: 'texts of the hosted pages',
    folder: 'languages',
    used: ['sign_in', (tag) => getTexts(tag)('sign_in')],
    shared: { de: ['code'], fr: ['code'], it: ['password'], nl: ['code'] },
  },
  {
    name: 'texts of the account page',
    folder: 'account/languages',
    used: ['devices', (tag) => getAccountTexts(tag)('devices')],
    shared: { de: ['name', 'passkeys'], nl: ['passkeys'] },
  },
]

const placeholdersIn = (text = '') => [...text.matchAll(/\{\w+\}/g)].map(String).sort()

for (const { name: suiteName, folder, used, shared } of kinds) {
  const path = join(import.meta.dirname, '../../ui', folder)
  const read = (tag: string): Texts => JSON.parse(readFileSync(join(path, `${tag}.json`), 'utf8'))
  const tags = readdirSync(path).map((name) => name.replace('.json', ''))
  const english = read('en')

  suite(suiteName, () => {
    test('exist in the languages of the emails', () => {
      assert.deepEqual(tags.toSorted(), [...shippedLanguages.keys()].toSorted())
      assert.equal(tags.length, 12)
    })

    for (const tag of tags) {
      test(`are complete in ${tag}, with the placeholders of English`, () => {
        const texts = read(tag)
        assert.deepEqual(Object.keys(texts), Object.keys(english))
        for (const [name, text] of Object.entries(texts)) {
          assert.notEqual(text.trim(), '', name)
          assert.deepEqual(placeholdersIn(text), placeholdersIn(english[name]), name)
        }
      })

      test(`are used in ${tag}`, () => {
        const [key, getText] = used
        assert.equal(getText(tag), read(tag)[key])
      })
    }

    for (const tag of tags.filter((each) => each !== 'en')) {
      test(`contain no untranslated text in ${tag}`, () => {
        const texts = read(tag)
        const same = Object.keys(english).filter((name) => texts[name] === english[name])
        assert.deepEqual(same, shared[tag] ?? [])
      })
    }
  })
}

test('the account page and the hosted pages share no text names', () => {
  const read = (name: string) =>
    Object.keys(JSON.parse(readFileSync(join(import.meta.dirname, '../../ui', name), 'utf8')))
  const shared = new Set(read('languages/en.json'))
  assert.deepEqual(
    read('account/languages/en.json').filter((name) => shared.has(name)),
    [],
  )
})
