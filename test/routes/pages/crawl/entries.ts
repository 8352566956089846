/** What a user types into the fields of a form. */
import { totpCode } from '../../../support/factors/factors.ts'
import { codeIn } from '../../../support/messages/mail-links.ts'
import type { PageResponse } from '../../../support/page-browser.ts'
import { newAddress, newNumber } from '../../../support/users.ts'
import type { Button, Input } from './elements.ts'
import { findMail, type World } from './world.ts'

/** `incomplete` is the least that a browser sends. */
export const variants = ['right', 'wrong', 'incomplete'] as const
export type Variant = (typeof variants)[number]

/** The fields that the browser sends. */
export async function fill(
  world: World,
  page: PageResponse,
  button: Button,
  variant: Variant,
): Promise<Record<string, string>> {
  const filled: Record<string, string> = { ...button.hidden }
  for (const input of button.inputs) {
    const isLeft = variant === 'incomplete' && !(input.isRequired && button.isValidated)
    if (isLeft) filled[input.name] = input.value
    else if (variant === 'wrong') filled[input.name] = wrongEntry(input)
    else filled[input.name] = await rightEntry(world, page, button, input)
  }
  return { ...filled, ...(button.name && { [button.name]: button.value }) }
}

function wrongEntry({ name, value }: Input): string {
  const entries: Record<string, string> = {
    email: newAddress('unknown'),
    phone: 'no number',
    password: 'wrong',
    locale: value,
  }
  return entries[name] ?? '000000'
}

async function rightEntry(
  world: World,
  page: PageResponse,
  button: Button,
  { name, value }: Input,
): Promise<string> {
  const { known } = world
  const path = targetPath(button)
  if (name === 'code' || name === 'nonce') return findCode(world, page, button)
  if (name === 'phone') known.phone = newNumber()
  if (name === 'password' && path.endsWith('/password')) {
    known.password = `new ${crypto.randomUUID()}`
  }
  const isNew = path === '/sign-in/create' || path === '/account/email'
  const entries: Record<string, string> = {
    email: button.value === 'sso' ? 'ann@corp.example' : isNew ? newAddress() : known.email,
    password: known.password,
    current: known.password,
    phone: known.phone,
    user_code: known.userCode,
    account: known.email,
    username: `u${crypto.randomUUID().slice(0, 8)}`,
    name: 'Name',
  }
  return entries[name] ?? value
}

const targetPath = ({ target }: Button) => new URL(target, 'http://auth.example').pathname

async function findCode(world: World, page: PageResponse, button: Button): Promise<string> {
  const { app, known, sms } = world
  const { value: action, hidden } = button
  const path = targetPath(button)
  if (action === 'recovery') return known.recovery
  if (path === '/sign-in/factor' && action === 'totp') {
    // Each code is accepted once, and the next one comes in half a minute.
    await app.db.updateTable('postern_factors').set({ last_step: null }).execute()
    return totpCode(known.secret)
  }
  if (path === '/account/factors' && !hidden.challenge_id) return totpCode(known.added)
  const isText = hidden.phone || hidden.challenge_id || path === '/account/phone'
  if (isText) return sms.code(known.phone)
  const [, pending] = /for="code-new">[^<]*?([\w-]+@example\.com)/.exec(page.html) ?? []
  const to = hidden.which === 'new' ? pending : hidden.email
  const mail = await findMail(world, to || known.email)
  return mail ? codeIn(mail) : '000000'
}
