// The search of the theme takes `--keras` for an order to leave a word out, and finds nothing: a query has it as `keras`.
const postMessage = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...rest) {
  const isQuery = message && message.type === 2 && typeof message.data === "string";
  const plain = isQuery && { ...message, data: message.data.replace(/(^|\s)[-+~^]+(?=\S)/g, "$1") };
  return postMessage.call(this, plain || message, ...rest);
};
