/** Removes phone numbers and codes from provider errors, which may quote both. */
import { SmsError, type SmsProvider } from './provider.ts'

/** Wraps a provider so that its errors contain neither the number nor the code of the message. */
export function redacting({ verify, ...provider }: SmsProvider): SmsProvider {
  const redacted: SmsProvider = {
    ...provider,
    send: (message) => withoutDigits([message.phone, message.code], () => provider.send(message)),
  }
  if (verify === undefined) return redacted
  return {
    ...redacted,
    verify: (phone, code) => withoutDigits([phone, code], () => verify(phone, code)),
  }
}

async function withoutDigits<T>(secrets: string[], work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof SmsError)) throw error
    const detail = secrets
      .filter(Boolean)
      .reduce((text, digits) => text.replace(spelled(digits), '[…]'), error.detail)
    throw new SmsError(error.provider, detail, error)
  }
}

/** Matches the digits, also grouped by blanks, dots, hyphens and brackets: +1 (555) 010-0000. */
function spelled(digits: string): RegExp {
  return new RegExp([...digits].map(RegExp.escape).join('[\\s().-]{0,3}'), 'g')
}
