/** Once added a column to flow_state; what it held has a table of its own since 0015. */
export async function up(): Promise<void> {}
