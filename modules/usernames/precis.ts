/**
 * The PRECIS profile UsernameCaseMapped (RFC 8265 §3.3) over the IdentifierClass (RFC 8264 §4.2). Zero-width joiners are
 * rejected everywhere: the contextual rules that allow a few of them need tables that Node does not have.
 */

/** RFC 8264 §9.6: exceptions of the general categories, context rules included. */
const exceptions = /[\u00df\u03c2\u06fd\u06fe\u0f0b\u3007\u00b7\u0375\u05f3\u05f4\u30fb]/
const excluded = /[\u0640\u07fa\u302e\u302f\u3031-\u3035\u303b]/
/** RFC 8264 §9.2, §9.9, §9.13. */
const oldHangulJamo = /[\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7c6\ud7cb-\ud7fb]/
const ignorable = /[\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Cc}]/u
const letterOrDigit = /[\p{Ll}\p{Lu}\p{Lo}\p{Nd}\p{Lm}\p{Mn}\p{Mc}]/u

/** Fullwidth and halfwidth forms, which are mapped to their ordinary form (RFC 8265 §3.3.2). */
const widths =
  /[\u3000\uff01-\uffbe\uffc2-\uffc7\uffca-\uffcf\uffd2-\uffd7\uffda-\uffdc\uffe0-\uffe6\uffe8-\uffee]/g

/** Returns the enforced form, or undefined for a string that the profile does not allow. */
export function enforceUsername(input: string): string | undefined {
  if (!input.isWellFormed()) return undefined
  const narrow = input.replace(widths, (char) => char.normalize('NFKD'))
  // By code point, so that a final sigma is mapped as any other.
  const mapped = [...narrow].map((char) => char.toLowerCase()).join('')
  const name = mapped.normalize('NFC')
  const chars = [...name]
  const isValid = chars.length > 0 && chars.every((char, at) => isAllowed(char, at, chars))
  return isValid && followsBidiRule(chars) ? name : undefined
}

/** The derivation of RFC 8264 §8 for one code point, in its order. */
function isAllowed(char: string, at: number, chars: readonly string[]): boolean {
  if (excluded.test(char)) return false
  if (exceptions.test(char) || /[\u0660-\u0669\u06f0-\u06f9]/.test(char)) {
    return isInContext(char, at, chars)
  }
  if (/[\x21-\x7e]/.test(char)) return true
  if (oldHangulJamo.test(char) || ignorable.test(char)) return false
  return char.normalize('NFKC') === char && letterOrDigit.test(char)
}

const katakanaNeighbor = /[\p{sc=Hira}\p{sc=Kana}\p{sc=Han}]/u

/** RFC 5892, appendices A.3 to A.9. */
function isInContext(char: string, at: number, chars: readonly string[]): boolean {
  const [before = '', after = ''] = [chars[at - 1], chars[at + 1]]
  if (char === '\u00b7') return before === 'l' && after === 'l'
  if (char === '\u0375') return /\p{Script=Greek}/u.test(after)
  if (char === '\u05f3' || char === '\u05f4') return /\p{Script=Hebrew}/u.test(before)
  if (char === '\u30fb') return chars.some((other) => katakanaNeighbor.test(other))
  if (/[\u0660-\u0669]/.test(char)) return !chars.some((other) => /[\u06f0-\u06f9]/.test(other))
  if (/[\u06f0-\u06f9]/.test(char)) return !chars.some((other) => /[\u0660-\u0669]/.test(other))
  return true
}

const arabicNumber = /[\u0660-\u0669\u{10d30}-\u{10d39}]/u
const rightToLeft =
  /[\p{sc=Hebr}\p{sc=Arab}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}\p{sc=Samr}\p{sc=Mand}\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u
type Direction = 'L' | 'R' | 'AN' | 'EN' | 'NSM' | 'other'

/** The bidirectional class, as far as characters of the profile differ in it (UAX 9, table 4). */
function getDirection(char: string): Direction {
  if (/\p{Mn}/u.test(char)) return 'NSM'
  if (/[0-9\u06f0-\u06f9]/.test(char)) return 'EN'
  if (arabicNumber.test(char)) return 'AN'
  if (/[\x21-\x7e]/.test(char)) return /[a-z]/.test(char) ? 'L' : 'other'
  return rightToLeft.test(char) ? 'R' : 'L'
}

/** RFC 5893 §2, for a name with a right-to-left character. */
function followsBidiRule(chars: readonly string[]): boolean {
  const all = chars.map(getDirection)
  if (!all.includes('R') && !all.includes('AN')) return true
  const last = all.findLast((direction) => direction !== 'NSM') ?? 'other'
  const isMixed = all.includes('EN') && all.includes('AN')
  return all[0] === 'R' && !all.includes('L') && !isMixed && ['R', 'EN', 'AN'].includes(last)
}
