/** Built-in languages, custom languages, and the language of a user. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { mailKindNames } from '../../mail/kinds/index.ts'
import {
  englishMessages,
  type MessageCatalog,
  messagesIn,
  readCustomLanguage,
} from '../../mail/languages/custom-language.ts'
import { emailTexts, findDirection } from '../../mail/languages/language.ts'
import { createLibrary } from '../../mail/languages/library.ts'
import { shippedLanguages } from '../../mail/languages/shipped.ts'
import { acceptedLanguages, nearestLanguage } from '../../mail/languages/tags.ts'
import { rendererWith, samples } from './rendering.ts'

const tags = [...shippedLanguages.keys()]
const [link] = [samples.confirmation.ConfirmationURL]

suite('built-in languages', () => {
  test('include twelve languages', () => {
    const expected = [
      'en',
      'de',
      'fr',
      'es',
      'it',
      'pt-BR',
      'nl',
      'pl',
      'tr',
      'ar',
      'ja',
      'zh-Hans',
    ]
    assert.deepEqual(tags, expected)
  })

  for (const [tag, language] of shippedLanguages) {
    test(`${tag} has each text with the placeholders of English`, () => {
      const { texts, problems } = readCustomLanguage(JSON.stringify(language))

      assert.deepEqual(problems, [])
      assert.deepEqual([...texts.keys()], [...englishMessages.keys()])
      for (const [place, text] of texts) {
        assert.deepEqual(listVariables(text), listVariables(englishMessages.get(place)), place)
      }
    })

    test(`${tag} has each of its plural forms`, () => {
      const categories = new Intl.PluralRules(tag).resolvedOptions().pluralCategories
      // Whole numbers this small never have the categories of millions and fractions.
      const used = new Set([...Array(100).keys()].map((n) => new Intl.PluralRules(tag).select(n)))
      for (const paragraph of language.mails.recovery_code_used_notification.paragraphs) {
        if (typeof paragraph === 'string') continue
        for (const category of categories) {
          if (!used.has(category) || category === 'zero') continue
          assert.ok(category in paragraph, `${tag} lacks ${category}`)
        }
        assert.ok('=0' in paragraph)
      }
    })

    test(`${tag} renders each email type in both forms without leftover placeholders`, async () => {
      const { renderer, warnings } = rendererWith()
      for (const kind of mailKindNames) {
        const { subject, html, text } = await renderer.render(kind, samples[kind], tag)

        for (const part of [subject, html, text]) assert.doesNotMatch(part, /\{\{|\}\}|undefined/)
        assert.match(html, new RegExp(`<html lang="${tag}" dir="${findDirection(tag)}">`))
        assert.ok(subject.length > 0 && subject.length < 80, `${kind}: ${subject}`)
        if (mailTexts(tag, kind).code) assert.match(text, /^ {4}123456$/m)
        if (html.includes('verify?token')) assert.ok(text.includes(`\n${link}\n`))
      }
      assert.deepEqual(warnings, [])
    })
  }

  test('use the plural form of a number', async () => {
    const { renderer } = rendererWith()
    const left = async (tag: string, Remaining: string) => {
      const variables = { ...samples.recovery_code_used_notification, Remaining }
      const { text } = await renderer.render('recovery_code_used_notification', variables, tag)
      return text.replaceAll(/[\u2068\u2069]/g, '')
    }

    assert.match(await left('en', '1'), /One code is left/)
    assert.match(await left('en', '0'), /That was the last one/)
    assert.match(await left('pl', '3'), /Zostały 3 kody\./)
    assert.match(await left('pl', '5'), /Zostało 5 kodów\./)
    assert.match(await left('ar', '2'), /رمزان/)
    assert.match(await left('ar', '9'), /9 رموز/)
    assert.match(await left('ja', '9'), /残りのコードは 9 個/)
  })

  test('format dates for the language', async () => {
    const { renderer } = rendererWith()
    const kind = 'new_sign_in_notification'
    const { text: german } = await renderer.render(kind, samples[kind], 'de')
    const { text: japanese } = await renderer.render(kind, samples[kind], 'ja')

    assert.match(german, /4\. März 2026/)
    assert.match(japanese, /2026年3月4日/)
  })

  test('isolate an email address in right-to-left text', async () => {
    const { renderer } = rendererWith()
    const { text, html } = await renderer.render('recovery', samples.recovery, 'ar')

    assert.match(text, /\u2068ada@example\.org\u2069/)
    assert.match(html, /class="code" dir="ltr"/)
    assert.match(html, /text-align:right/)
  })

  test('name an unknown device in the language', async () => {
    const { renderer } = rendererWith()
    const kind = 'new_sign_in_notification'
    const { text } = await renderer.render(kind, { ...samples[kind], Device: '' }, 'fr')

    assert.match(text, /Appareil\u00a0: inconnu/)
  })
})

suite('language selection', () => {
  const choices: [wanted: string, chosen: string | undefined][] = [
    ['de', 'de'],
    ['de-AT', 'de'],
    ['de_CH', 'de'],
    ['pt', 'pt-BR'],
    ['pt-PT', 'pt-BR'],
    ['zh', 'zh-Hans'],
    ['zh-CN', 'zh-Hans'],
    ['ar-EG', 'ar'],
    ['EN-us', 'en'],
    ['hu', undefined],
    ['', undefined],
    ['not a tag', undefined],
    ['de'.padEnd(500, '-x'), undefined],
  ]
  for (const [expected, chosen] of choices) {
    test(`maps "${expected.slice(0, 20)}" to ${chosen ?? 'none'}`, () => {
      assert.equal(nearestLanguage([expected], tags), chosen)
    })
  }

  test('reads Accept-Language by weights', () => {
    assert.deepEqual(acceptedLanguages('en;q=0.5, fr-CA, *;q=0.1'), ['fr-CA', 'en'])
    assert.equal(nearestLanguage(acceptedLanguages('hu, ja;q=0.8, en;q=0.9'), tags), 'en')
    assert.deepEqual(acceptedLanguages('*'), [])
    assert.deepEqual(acceptedLanguages('\u0000;;;q=x'), [])
  })

  test('reads the first ten languages of a header of limited length', () => {
    const unknown = Array.from({ length: 10 }, () => 'hu')
    assert.equal(nearestLanguage([...unknown.slice(1), 'de'], tags), 'de')
    assert.equal(nearestLanguage([...unknown, 'de'], tags), undefined)
    assert.deepEqual(acceptedLanguages(`${' '.repeat(299)}de`), ['d'])
  })
})

suite('custom languages', () => {
  const swedish = {
    mails: { invite: { subject: 'Du är inbjuden', paragraphs: ['Hej {{ .Email }}'] } },
  }
  const read = (value: object) => readCustomLanguage(JSON.stringify(value))
  const createTestLibrary = (own: Record<string, MessageCatalog>) =>
    createLibrary((tag) => own[tag])

  test('fall back to English for missing texts, which are listed', () => {
    const library = createTestLibrary({ sv: read(swedish).texts })

    const { subject, heading, paragraphs } = emailTexts(library.get('sv'), 'invite')
    assert.deepEqual([subject, heading], ['Du är inbjuden', 'You are invited'])
    assert.deepEqual(paragraphs, ['Hej {{ .Email }}'])
    const { places } = library.missing('sv')
    assert.equal(places.length, englishMessages.size - 2)
    assert.ok(places.includes('mails.invite.heading') && !places.includes('mails.invite.subject'))
  })

  test('override built-in texts and the language of their region', () => {
    const own = { mails: { invite: { subject: 'Eingeladen!' } } }
    const library = createTestLibrary({ de: read(own).texts, 'de-AT': new Map() })

    assert.equal(emailTexts(library.get('de'), 'invite').subject, 'Eingeladen!')
    assert.equal(emailTexts(library.get('de-AT'), 'invite').subject, 'Eingeladen!')
    assert.equal(emailTexts(library.get('de-AT'), 'invite').heading, 'Sie sind eingeladen')
    assert.deepEqual(library.missing('de').places, [])
    assert.equal(emailTexts(library.get('en'), 'invite').subject, "You've been invited")
  })

  test('are read again after a change', () => {
    const own: Record<string, MessageCatalog> = { sv: read(swedish).texts }
    const library = createTestLibrary(own)
    library.get('sv')
    own.sv = read({ mails: { invite: { subject: 'Ny' } } }).texts

    assert.equal(emailTexts(library.get('sv'), 'invite').subject, 'Ny')
  })

  const wrong: [what: string, value: object, problem: RegExp][] = [
    [
      'an unknown text',
      { mails: { invite: { title: 'x' } } },
      /mails\.invite\.title is not a message/,
    ],
    ['a number as text', { layout: { full_link: 7 } }, /layout\.full_link is not a text/],
    ['a text instead of a list', { mails: { invite: { paragraphs: 'x' } } }, /not a list/],
    ['a syntax error', { layout: { sent_to: '{{ if .Email }}' } }, /has an error: line 1/],
    ['a prototype', JSON.parse('{"__proto__": {"x": "y"}}'), /is not a message/],
    [
      'a plural without a variable',
      { mails: { invite: { paragraphs: [{ count: '}} x', other: 'y' }] } } },
      /not a list/,
    ],
  ]
  for (const [what, value, problem] of wrong) {
    test(`reject and report ${what}`, () => {
      const { texts, problems } = read(value)

      assert.equal(texts.size, 0)
      assert.match(problems.join(), problem)
    })
  }

  test('escape HTML in texts', async () => {
    const own = readCustomLanguage('{"mails": {"invite": {"heading": "Ham & <b>eggs</b>"}}}')
    const { renderer } = rendererWith({ messagesFor: createTestLibrary({ sv: own.texts }).get })

    const { html, text } = await renderer.render('invite', samples.invite, 'sv')

    assert.match(html, /Ham &#38; &#60;b&#62;eggs/)
    assert.match(text, /^Ham & <b>eggs<\/b>/)
  })
})

function mailTexts(tag: string, kind: (typeof mailKindNames)[number]) {
  return emailTexts(createLibrary(() => undefined).get(tag), kind)
}

/** The placeholders of a text, without duplicates and sorted. */
function listVariables(text: unknown): string[] {
  const actions = messagesIn(text).flatMap((sentence) => sentence.match(/\{\{.*?\}\}/g) ?? [])
  return [...new Set(actions.flatMap((action) => action.match(/\.\w+/g) ?? []))].sort()
}
