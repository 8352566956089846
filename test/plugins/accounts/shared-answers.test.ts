/** Who asks the same as others who wait gets one answer with them, and never one that was found before. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'

import { shareAnswers } from '../../../plugins/accounts/users/shared-answers.ts'

/** Questions whose answers are given by the test. */
function questions() {
  const sent: { key: string; answer(text: string): void; fail(error: Error): void }[] = []
  const share = shareAnswers<string>()
  const ask = (key: string) =>
    share(key, () => {
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      sent.push({ key, answer: resolve, fail: reject })
      return promise
    })
  const keysSent = () => sent.map(({ key }) => key).join('')
  return { ask, sent, keysSent }
}

suite('shared answers', () => {
  test('who asks alone is answered at once, each time anew', async () => {
    const { ask, sent, keysSent } = questions()
    const first = ask('a')
    assert.equal(keysSent(), 'a')
    sent[0]?.answer('a1')
    assert.equal(await first, 'a1')
    await turn()
    const second = ask('a')
    assert.equal(keysSent(), 'aa')
    sent[1]?.answer('a2')
    assert.equal(await second, 'a2')
  })

  test('who asks while an answer is being found gets the next, with the others who wait', async () => {
    const { ask, sent, keysSent } = questions()
    const first = ask('a')
    const waiting = [ask('a'), ask('a'), ask('a')]
    assert.equal(keysSent(), 'a')
    sent[0]?.answer('a1')
    assert.equal(await first, 'a1')
    await turn()
    assert.equal(keysSent(), 'aa')
    const late = ask('a')
    sent[1]?.answer('a2')
    assert.deepEqual(await Promise.all(waiting), ['a2', 'a2', 'a2'])
    await turn()
    assert.equal(keysSent(), 'aaa')
    sent[2]?.answer('a3')
    assert.equal(await late, 'a3')
  })

  test('other questions wait for nobody', async () => {
    const { ask, sent, keysSent } = questions()
    const asked = [ask('a'), ask('b')]
    assert.equal(keysSent(), 'ab')
    sent[1]?.answer('b1')
    assert.equal(await asked[1], 'b1')
    sent[0]?.answer('a1')
    assert.equal(await asked[0], 'a1')
  })

  test('an error is for those who shared the answer, and for nobody after them', async () => {
    const { ask, sent } = questions()
    const first = assert.rejects(ask('a'), /one/)
    const waiting = [ask('a'), ask('a')].map((asked) => assert.rejects(asked, /two/))
    sent[0]?.fail(new Error('one'))
    await first
    await turn()
    sent[1]?.fail(new Error('two'))
    await Promise.all(waiting)
    await turn()
    const third = ask('a')
    sent[2]?.answer('a3')
    assert.equal(await third, 'a3')
  })

  test('an answer that takes long does not hold up the next', async () => {
    const { ask, sent, keysSent } = questions()
    const slow = ask('a')
    const next = ask('a')
    while (sent.length < 2) await pause(5)
    assert.equal(keysSent(), 'aa')
    sent[1]?.answer('a2')
    assert.equal(await next, 'a2')
    sent[0]?.answer('a1')
    assert.equal(await slow, 'a1')
  })
})
