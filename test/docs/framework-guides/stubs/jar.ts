/** The cookies of one browser. */
interface CookieOptions {
  path?: string
  maxAge?: number
}

export const jar = new Map<string, string>()

export function setInJar(name: string, value: string, options: CookieOptions = {}): void {
  if (value === '' || options.maxAge === 0) jar.delete(name)
  else jar.set(name, value)
}

export function allInJar(): { name: string; value: string }[] {
  return [...jar].map(([name, value]) => ({ name, value }))
}

/** What a framework throws to leave a handler. */
export class Left extends Error {
  readonly location: string | undefined
  constructor(location: string | undefined, message = '') {
    super(message)
    this.location = location
  }
}
