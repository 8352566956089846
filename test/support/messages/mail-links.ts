/** What a user finds in a mail: the link and the code. */
import assert from 'node:assert/strict'

import type { ReceivedMail } from './mail-server.ts'

export function linkIn({ mail }: ReceivedMail): string {
  const link = /https?:\/\/\S+\/verify\?\S+/.exec(mail.text ?? '')?.[0]
  assert.ok(link, 'the mail holds no link')
  return link
}

export function codeIn({ mail }: ReceivedMail): string {
  // Neither a part of an address nor of a link.
  const code = /(?<![\w-])\d{6,10}(?![\w-])/.exec(mail.text ?? '')?.[0]
  assert.ok(code, 'the mail holds no code')
  return code
}
