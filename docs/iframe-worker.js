/* Browsers start no worker from a file. There, a hidden frame takes its place: it runs the worker's script in a window of
   its own, and what would be messages between threads are events between the two windows. Served by a web server, the
   pages search in a real worker. The theme looks for the name IFrameWorker. */
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      const script = document.createElement("script");
      script.src = new URL(address, document.baseURI);
      frame.hidden = true;
      frame.title = "Search";
      frame.srcdoc = script.outerHTML;
      this.inside = new Promise((ready) => {
        frame.addEventListener("load", () => {
          frame.contentWindow.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          ready(frame.contentWindow);
        });
      });
      document.body.append(frame);
    }

    postMessage(data) {
      this.inside.then((there) => there.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
  window.Worker = window.IFrameWorker;
}
