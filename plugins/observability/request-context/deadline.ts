/** The deadline of a request, and its database work in progress. */
import { requestTimeout } from '../../../schemas/errors.ts'

/** A connection while a request uses it. */
export interface ConnectionInUse {
  /** Cancels the running statement, unless it is a commit. */
  stop(): void
  /** Whether the running statement may be committed once it has ended. */
  mayTakeEffect(): boolean
}

/** Thrown when a request continues after its deadline. */
export class RequestTimeoutError extends Error {
  readonly mayHaveTakenEffect: boolean

  constructor(mayHaveTakenEffect: boolean, cause?: unknown) {
    super('the request exceeded AUTH_API_MAX_REQUEST_DURATION and was aborted', {
      cause,
    })
    this.name = 'RequestTimeoutError'
    this.mayHaveTakenEffect = mayHaveTakenEffect
  }
}

export class RequestDeadline {
  readonly connections = new Set<ConnectionInUse>()
  /** A commit succeeded after the deadline. */
  hasTakenEffect = false
  #isOver = false

  /** After the deadline, every statement of the request except a rollback is rejected. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Cancels the request's statements. Returns whether there are any: the request then ends with them. */
  end(): boolean {
    this.#isOver = true
    for (const connection of this.connections) connection.stop()
    return this.connections.size > 0
  }

  check(): void {
    if (this.#isOver) throw this.over()
  }

  over(cause?: unknown): RequestTimeoutError {
    return new RequestTimeoutError(this.#mayHaveTakenEffect(), cause)
  }

  /** The error for a client that waited until the deadline. */
  toError() {
    return requestTimeout(this.#mayHaveTakenEffect())
  }

  #mayHaveTakenEffect(): boolean {
    return this.hasTakenEffect || [...this.connections].some((one) => one.mayTakeEffect())
  }
}
