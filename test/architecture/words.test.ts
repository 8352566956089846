/** Replaced words (scripts/words.ts) do not return to code, documents and tests. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { countWords, findOccurrences, occurrencesIn, wordsIn } from '../../scripts/words.ts'

suite('replaced words', () => {
  test('no replaced word is used more often than its limit', () => {
    const found = findOccurrences()
    const rows = countWords(found)
    console.log(rows.map(({ words, count, limit }) => `${words}: ${count} of ${limit}`).join('\n'))
    const tooMany = new Set(
      rows.filter(({ count, limit }) => count > limit).map((row) => row.words),
    )
    const places = found.filter(({ form }) => [...tooMany].some((forms) => forms.includes(form)))
    assert.deepEqual(places, [])
  })

  test('identifiers are split into words', () => {
    const names = 'newPerson HTTPServer houses snake_case'
    assert.deepEqual(wordsIn(names), ['new', 'person', 'http', 'server', 'houses', 'snake', 'case'])
  })

  test('a replaced word is found with its file and line', () => {
    const text = 'const a = 1\ninterface SignInHouse {}\n'
    assert.deepEqual(occurrencesIn('a.ts', text), [{ file: 'a.ts', line: 2, form: 'house' }])
  })

  test('names of stored tables do not count as replaced words', () => {
    assert.deepEqual(occurrencesIn('a.ts', "selectFrom('postern_decoy_tokens')"), [])
  })
})
