/** How long a request may go on, and what of it is under way in the database when its time is up. */
import { requestTimeout } from '../../errors.ts'

/** A connection while a request has it. */
export interface ConnectionInUse {
  /** Ends the statement that is running, but no commit. */
  stop(): void
  /** Whether what is running may be in the database for good once it has ended. */
  mayTakeEffect(): boolean
}

/** Thrown where a request whose time is up would go on. */
export class RequestOver extends Error {
  readonly mayHaveTakenEffect: boolean

  constructor(mayHaveTakenEffect: boolean, cause?: unknown) {
    super('the request took longer than AUTH_API_MAX_REQUEST_DURATION: its work ends here', {
      cause,
    })
    this.name = 'RequestOver'
    this.mayHaveTakenEffect = mayHaveTakenEffect
  }
}

export class TimeLimit {
  readonly connections = new Set<ConnectionInUse>()
  /** Something was written for good although the time was up. */
  hasTakenEffect = false
  #isOver = false

  /** From now on, every statement of the request but a rollback is refused. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Stops the request's statements. Returns whether there are any, whose end is the end of the request as well. */
  end(): boolean {
    this.#isOver = true
    for (const connection of this.connections) connection.stop()
    return this.connections.size > 0
  }

  check(): void {
    if (this.#isOver) throw this.over()
  }

  over(cause?: unknown): RequestOver {
    return new RequestOver(this.#mayHaveTakenEffect(), cause)
  }

  /** What to answer whoever has waited until now. */
  answer() {
    return requestTimeout(this.#mayHaveTakenEffect())
  }

  #mayHaveTakenEffect(): boolean {
    return this.hasTakenEffect || [...this.connections].some((one) => one.mayTakeEffect())
  }
}
