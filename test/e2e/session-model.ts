/** The rules of sessions and refresh tokens as a minimal model. */

export interface Rules {
  rotation: boolean
  untilUsed: boolean
  reuseInterval: number
  timebox: number
  inactivity: number
}

/** A token by its age: 0 is the last issued one, 1 the one before. */
export type Response =
  | { token: 'new' | 'current' }
  | { error: 'refresh_token_not_found' | 'refresh_token_already_used' | 'session_expired' }

export class SessionModel {
  counter = 0
  isAlive = true
  readonly #openedAt: number
  #usedAt: number
  readonly #rules: Rules

  constructor(rules: Rules, now: number) {
    this.#rules = rules
    this.#openedAt = now
    this.#usedAt = now
  }

  get rotates(): boolean {
    return this.#rules.rotation
  }

  #endsAt(): number {
    return Math.min(this.#openedAt + this.#rules.timebox, this.#usedAt + this.#rules.inactivity)
  }

  /** Whether its access token, which ends with it, is accepted: a few seconds longer, as clocks differ. */
  accepts(now: number): boolean {
    return this.isAlive && now < this.#endsAt() + 5
  }

  /** Seconds. */
  refresh(age: number, now: number): Response {
    const { rotation, untilUsed, reuseInterval } = this.#rules
    if (!this.isAlive) return { error: 'refresh_token_not_found' }
    if (now >= this.#endsAt()) return { error: 'session_expired' }
    if (age === 0) {
      this.counter += 1
      this.#usedAt = now
      return { token: 'new' }
    }
    const isTolerated = untilUsed || now - this.#usedAt <= reuseInterval
    if (rotation && age === 1 && isTolerated) return { token: 'current' }
    if (rotation) this.isAlive = false
    return { error: 'refresh_token_already_used' }
  }
}
