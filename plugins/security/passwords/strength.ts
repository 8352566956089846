/** Strength rules for new passwords. */
import { validationFailed, weakPassword } from '../../../schemas/errors.ts'

export interface StrengthRules {
  minLength: number
  /** At least one character of each set is required. */
  requiredCharacters: readonly string[]
  /** Checked first, because it is fast. */
  isCommon?: ((password: string) => boolean) | undefined
  isBreached?: ((password: string) => Promise<boolean>) | undefined
}

interface Weakness {
  message: string
  reasons: string[]
}

const maxBytes = 1024

/** Throws validation_failed for a password that is too long to hash, whatever its strength. */
export function checkLength(password: string): void {
  if (Buffer.byteLength(password) > maxBytes) {
    throw validationFailed(`Password cannot be longer than ${maxBytes} bytes`)
  }
}

/** All rules that the password violates, or undefined. */
export async function findWeakness(
  password: string,
  { minLength, requiredCharacters, isCommon, isBreached }: StrengthRules,
): Promise<Weakness | undefined> {
  const faults: [reason: string, message: string][] = []
  if ([...password].length < minLength) {
    faults.push(['length', `Password should be at least ${minLength} characters.`])
  }
  if (requiredCharacters.some((set) => ![...set].some((char) => password.includes(char)))) {
    const sets = requiredCharacters.join(', ')
    faults.push(['characters', `Password should contain at least one character of each: ${sets}.`])
  }
  if (isCommon?.(password) || (await isBreached?.(password))) {
    faults.push([
      'pwned',
      'Password is known to be weak and easy to guess, please choose a different one.',
    ])
  }
  if (faults.length === 0) return undefined
  return {
    reasons: faults.map(([reason]) => reason),
    message: faults.map(([, message]) => message).join(' '),
  }
}

/** Throws validation_failed or weak_password. */
export async function checkStrength(password: string, rules: StrengthRules): Promise<void> {
  checkLength(password)
  const weakness = await findWeakness(password, rules)
  if (weakness) throw weakPassword(weakness.message, weakness.reasons)
}
